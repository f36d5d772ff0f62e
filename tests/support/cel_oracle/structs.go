package main

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special are the types that JSON has in another form than that of a struct.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():         "time",
	reflect.TypeFor[metav1.MicroTime]():    "time",
	reflect.TypeFor[metav1.Duration]():     "duration",
	reflect.TypeFor[resource.Quantity]():   "quantity",
	reflect.TypeFor[corev1.ResourceList](): "resources",
	reflect.TypeFor[intstr.IntOrString]():  "dyn",
	reflect.TypeFor[metav1.FieldsV1]():     "dyn",
}

// structs returns the fields of nodes, pods and all structs within them, and the type of each field:
// a scalar, the name of a struct, `[]` before the type of the items of a list, `{}` before that of the
// values of a map, and `*` before a type whose absence is null.
func structs() map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, one := range reachable() {
		fields := map[string]string{}
		describe(one, fields)
		found[one.Name()] = fields
	}
	return found
}

func describe(from reflect.Type, fields map[string]string) {
	for field := range from.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() || field.Type == reflect.TypeFor[metav1.TypeMeta]():
		case name == "" && strings.Contains(options, "inline"):
			describe(field.Type, fields)
		default:
			fields[name] = spelled(field.Type)
		}
	}
}

func spelled(one reflect.Type) string {
	if name, ok := special[one]; ok {
		return name
	}
	switch one.Kind() {
	case reflect.Pointer:
		return "*" + spelled(one.Elem())
	case reflect.Slice:
		if one.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + spelled(one.Elem())
	case reflect.Map:
		if special[one.Elem()] == "quantity" {
			return "resources"
		}
		return "{}" + spelled(one.Elem())
	case reflect.Struct:
		return one.Name()
	case reflect.Bool, reflect.String:
		return one.Kind().String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "int"
	}
	panic(one.String())
}

// reachable returns Node, Pod and the structs within them, each once.
func reachable() []reflect.Type {
	var found []reflect.Type
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(one reflect.Type) {
		if special[one] != "" || seen[one] {
			return
		}
		seen[one] = true
		switch one.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(one.Elem())
		case reflect.Struct:
			found = append(found, one)
			for field := range one.Fields() {
				visit(field.Type)
			}
		}
	}
	visit(reflect.TypeFor[corev1.Node]())
	visit(reflect.TypeFor[corev1.Pod]())
	return found
}
