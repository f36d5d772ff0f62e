// Command gotemplate_oracle fills golden files with what Go itself makes of templates and YAML.
//
//	go run . templates ../../golden/gotemplate.json
//	go run . yaml ../../golden/yaml.json
//
// Each file has a list of cases; the results that are there are replaced, so a new case needs
// nothing but its text. Templates are rendered as kwok renders those of Stages
// (https://github.com/kubernetes-sigs/kwok/blob/main/pkg/utils/gotpl/renderer.go): the text is
// trimmed, the numbers of the object are of the type json.Number, and what comes out is read as YAML.
// They know the functions of Sprig and those of kwok; the time stands still.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type goldenCase struct {
	Text   string          `json:"text"`
	Result json.RawMessage `json:"result,omitempty"`
	Object json.RawMessage `json:"object,omitempty"` // what the result is in YAML, absent if it is none
	Fails  string          `json:"fails,omitempty"`
}

type golden struct {
	About string          `json:"about"`
	Data  json.RawMessage `json:"data,omitempty"`
	Cases []goldenCase    `json:"cases"`
}

func main() {
	if len(os.Args) != 3 {
		fatal(fmt.Errorf("usage: gotemplate_oracle templates|yaml FILE"))
	}
	answer := map[string]func(golden, string) (goldenCase, error){
		"templates": rendered,
		"yaml":      loaded,
	}[os.Args[1]]
	if answer == nil {
		fatal(fmt.Errorf("nothing is known about %q", os.Args[1]))
	}
	content, err := os.ReadFile(os.Args[2])
	fatal(err)
	var file golden
	fatal(json.Unmarshal(content, &file))
	cases := []goldenCase{}
	for _, one := range file.Cases {
		answered, err := answer(file, one.Text)
		if errors.Is(err, errEndless) {
			continue
		}
		if err != nil {
			answered = goldenCase{Fails: err.Error()}
		}
		answered.Text = one.Text
		cases = append(cases, answered)
	}
	file.Cases = cases
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	fatal(encoder.Encode(file))
	fatal(os.WriteFile(os.Args[2], out.Bytes(), 0o644))
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC)

func rendered(file golden, text string) (goldenCase, error) {
	time.Local = time.UTC
	functions := sprig.TxtFuncMap()
	functions["Quote"] = quote
	functions["YAML"] = indented
	functions["Now"] = func() string { return now.Format("2006-01-02T15:04:05.000000000Z07:00") }
	functions["now"] = func() time.Time { return now }
	functions["Name"] = func() string { return "node-7" }
	functions["Index"] = func() int { return 7 }
	parsed, err := template.New("golden").Funcs(functions).Parse(strings.TrimSpace(text))
	if err != nil {
		return goldenCase{}, err
	}
	out := &bounded{}
	done := make(chan error, 1)
	go func() { done <- parsed.Execute(out, decoded(file.Data)) }()
	select {
	case err = <-done:
	case <-time.After(5 * time.Second):
		err = errEndless
	}
	if err != nil {
		return goldenCase{}, err
	}
	object, err := yaml.YAMLToJSON([]byte(out.String()))
	if err != nil {
		object = nil
	}
	return goldenCase{Result: raw(out.String()), Object: object}, nil
}

// errEndless says that a template writes more, or takes longer, than a case should: it is left out.
var errEndless = errors.New("endless")

type bounded struct{ strings.Builder }

func (b *bounded) Write(text []byte) (int, error) {
	if b.Len()+len(text) > 10_000 {
		return 0, errEndless
	}
	return b.Builder.Write(text)
}

func loaded(_ golden, text string) (goldenCase, error) {
	result, err := yaml.YAMLToJSON([]byte(text))
	return goldenCase{Result: result}, err
}

// decoded returns the object as a template sees it: an object that came from the API server, whose
// numbers are int64 or float64, written as JSON and read again.
func decoded(data json.RawMessage) any {
	written, err := json.Marshal(numbers(unmarshalled(data)))
	fatal(err)
	return unmarshalled(written)
}

func unmarshalled(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	fatal(decoder.Decode(&value))
	return value
}

// numbers makes int64 of the numbers that are integers, and float64 of the others.
func numbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		real, err := value.Float64()
		fatal(err)
		return real
	case []any:
		for i, item := range value {
			value[i] = numbers(item)
		}
	case map[string]any:
		for key, item := range value {
			value[key] = numbers(item)
		}
	}
	return value
}

func raw(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	fatal(encoder.Encode(value))
	return json.RawMessage(bytes.TrimSpace(out.Bytes()))
}

// quote writes a text as JSON, and the JSON of anything else as a text.
func quote(value any) string {
	written, err := json.Marshal(value)
	if err != nil {
		return strconv.Quote(fmt.Sprint(value))
	}
	if written[0] == '"' {
		return string(written)
	}
	return strconv.Quote(string(written))
}

// indented writes YAML, on new lines if it is indented by levels of two spaces.
func indented(value any, levels ...int) (string, error) {
	written, err := yaml.Marshal(value)
	if err != nil || len(levels) == 0 || levels[0] < 1 {
		return string(written), err
	}
	lead := "\n" + strings.Repeat("  ", levels[0])
	return lead + strings.ReplaceAll(string(written), "\n", lead), nil
}
