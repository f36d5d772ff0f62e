// Command cel_oracle fills a golden file with what kwok makes of expressions in CEL, and writes the
// fields of nodes and pods that expressions may name.
//
//	go run . answer ../../golden/cel.json
//	go run . structs ../../../kwokctl/expr/cel/kinds/structs.json
//
// The environment is that of kwok's Stages
// (https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/lifecycle/lifecycle.go): `self` is a
// struct of k8s.io/api for nodes and pods, and a map for any other kind. That environment knows the
// fields of a few structs only, and none of a condition. What it refuses for this reason is asked
// again of one that knows all structs; such a case is marked `beyond`.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kwok/pkg/utils/cel"
)

type goldenCase struct {
	Kind    string          `json:"kind,omitempty"`
	Text    string          `json:"text"`
	Type    string          `json:"type,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Beyond  bool            `json:"beyond,omitempty"`
	Refused []string        `json:"refused,omitempty"` // line, column and problem of each error
	Fails   string          `json:"fails,omitempty"`   // the error that the evaluation ends in
}

type golden struct {
	About   string                     `json:"about"`
	Objects map[string]json.RawMessage `json:"objects"`
	Cases   []goldenCase               `json:"cases"`
}

func main() {
	if len(os.Args) != 3 {
		fatal(fmt.Errorf("usage: cel_oracle answer|structs FILE"))
	}
	switch os.Args[1] {
	case "answer":
		answerAll(os.Args[2])
	case "structs":
		write(os.Args[2], structs())
	default:
		fatal(fmt.Errorf("nothing is known about %q", os.Args[1]))
	}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(path string, value any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	fatal(encoder.Encode(value))
	fatal(os.WriteFile(path, out.Bytes(), 0o644))
}

func answerAll(path string) {
	content, err := os.ReadFile(path)
	fatal(err)
	var file golden
	fatal(json.Unmarshal(content, &file))
	objects := map[string]any{}
	for kind, written := range file.Objects {
		objects[kind] = decoded(kind, written)
	}
	asked := &environments{known: map[string]*cel.Environment{}}
	for i, one := range file.Cases {
		file.Cases[i] = asked.answer(one.Kind, one.Text, objects[one.Kind])
	}
	write(path, file)
}

func decoded(kind string, written json.RawMessage) any {
	var value any
	switch kind {
	case "Node":
		value = &corev1.Node{}
	case "Pod":
		value = &corev1.Pod{}
	default:
		other := &unstructured.Unstructured{}
		fatal(other.UnmarshalJSON(written))
		return other.Object
	}
	fatal(json.Unmarshal(written, value))
	return value
}

type environments struct{ known map[string]*cel.Environment }

// unknownStruct is in the error for a field of a struct that kwok has not registered.
const unknownStruct = "unexpected failed resolution of"

func (e *environments) answer(kind, text string, object any) goldenCase {
	one := goldenCase{Kind: kind, Text: text}
	program, err := e.environment(kind, false).Compile(text)
	if err != nil && strings.Contains(err.Error(), unknownStruct) {
		one.Beyond = true
		program, err = e.environment(kind, true).Compile(text)
	}
	if err != nil {
		one.Refused = problems(err.Error())
		return one
	}
	value, _, err := program.Eval(map[string]any{"self": object})
	if err != nil {
		one.Fails = err.Error()
		return one
	}
	one.Type = value.Type().TypeName()
	one.Value = rendered(value)
	return one
}

func (e *environments) environment(kind string, all bool) *cel.Environment {
	key := fmt.Sprint(kind, all)
	if e.known[key] != nil {
		return e.known[key]
	}
	var self any = map[string]any{}
	switch kind {
	case "Node":
		self = (*corev1.Node)(nil)
	case "Pod":
		self = (*corev1.Pod)(nil)
	}
	types := slices.Clone(cel.DefaultTypes)
	if all {
		types = append(types, remaining(types)...)
	}
	made, err := cel.NewEnvironment(cel.EnvironmentConfig{
		Types:       types,
		Conversions: slices.Clone(cel.DefaultConversions),
		Funcs:       maps.Clone(cel.DefaultFuncs),
		Methods:     cel.FuncsToMethods(cel.DefaultFuncs),
		Vars:        map[string]any{"self": self},
	})
	fatal(err)
	e.known[key] = made
	return made
}

// remaining returns the structs within nodes and pods that are not among the types.
func remaining(types []any) []any {
	var others []any
	known := map[reflect.Type]bool{}
	for _, one := range types {
		known[reflect.TypeOf(one)] = true
	}
	for _, found := range reachable() {
		if !known[found] {
			others = append(others, reflect.New(found).Elem().Interface())
		}
	}
	return others
}

var problem = regexp.MustCompile(`(?m)ERROR: (?:<input>)?:(\d+):(\d+): (.*)$`)

func problems(message string) []string {
	var found []string
	for _, match := range problem.FindAllStringSubmatch(message, -1) {
		found = append(found, fmt.Sprintf("%s:%s %s", match[1], match[2], match[3]))
	}
	if found == nil {
		found = []string{message}
	}
	return found
}
