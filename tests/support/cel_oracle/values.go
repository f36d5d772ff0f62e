package main

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"sigs.k8s.io/kwok/pkg/utils/cel"
)

// rendered writes a value as JSON; what JSON has no type for is a text.
func rendered(value ref.Val) json.RawMessage {
	written, err := json.Marshal(plain(value))
	fatal(err)
	return written
}

func plain(value ref.Val) any {
	switch value := value.(type) {
	case types.Null:
		return nil
	case types.Bool:
		return bool(value)
	case types.Int:
		return int64(value)
	case types.Uint:
		return uint64(value)
	case types.Double:
		return strconv.FormatFloat(float64(value), 'g', -1, 64)
	case types.String:
		return string(value)
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(value)
	case types.Duration:
		return value.Duration.Nanoseconds()
	case types.Timestamp:
		return value.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	case cel.Quantity:
		return value.Quantity.String()
	case cel.ResourceList:
		written := map[string]string{}
		for name, quantity := range value.List {
			written[string(name)] = quantity.String()
		}
		return written
	case traits.Mapper:
		return entries(value)
	case traits.Lister:
		items := []any{}
		for i := types.Int(0); i < value.Size().(types.Int); i++ {
			items = append(items, plain(value.Get(i)))
		}
		return items
	case ref.Type:
		return value.TypeName()
	}
	return value.Type().TypeName() // a struct
}

// entries writes a map as a sorted list of pairs, because its keys need not be texts.
func entries(value traits.Mapper) any {
	pairs := []string{}
	for keys := value.Iterator(); keys.HasNext() == types.True; {
		key := keys.Next()
		pair, err := json.Marshal([]any{plain(key), plain(value.Get(key))})
		fatal(err)
		pairs = append(pairs, string(pair))
	}
	slices.Sort(pairs)
	var all []json.RawMessage
	for _, pair := range pairs {
		all = append(all, json.RawMessage(pair))
	}
	return all
}
