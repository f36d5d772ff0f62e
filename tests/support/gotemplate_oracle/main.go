// Command gotemplate_oracle fills golden files with what Go itself makes of templates and YAML.
//
//	go run . templates ../../golden/gotemplate.json
//	go run . yaml ../../golden/yaml.json
//
// Each file has a list of cases; the results that are there are replaced, so a new case needs
// nothing but its text. Templates know the functions of Sprig and those of kwok that are pure.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type goldenCase struct {
	Text   string          `json:"text"`
	Result json.RawMessage `json:"result,omitempty"`
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
	answer := map[string]func(golden, string) (json.RawMessage, error){
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
	for i, one := range file.Cases {
		result, err := answer(file, one.Text)
		file.Cases[i] = goldenCase{Text: one.Text, Result: result}
		if err != nil {
			file.Cases[i] = goldenCase{Text: one.Text, Fails: err.Error()}
		}
	}
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

func rendered(file golden, text string) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(file.Data))
	decoder.UseNumber()
	var data any
	fatal(decoder.Decode(&data))
	functions := sprig.TxtFuncMap()
	functions["Quote"] = quote
	functions["YAML"] = indented
	functions["Now"] = func() string { return "2026-01-02T03:04:05.000000000Z" }
	parsed, err := template.New("golden").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	if err := parsed.Execute(&out, numbers(data)); err != nil {
		return nil, err
	}
	return raw(out.String()), nil
}

func loaded(_ golden, text string) (json.RawMessage, error) {
	result, err := yaml.YAMLToJSON([]byte(text))
	return json.RawMessage(result), err
}

// numbers makes integers of the numbers that are integers: what our own reader gives.
func numbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return int(whole)
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
func quote(value any) (string, error) {
	if text, ok := value.(string); ok {
		written, err := json.Marshal(text)
		return string(written), err
	}
	written, err := json.Marshal(value)
	return strconv.Quote(string(written)), err
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
