// Does in a real container what the annotation kwokctl.dev/program says of a fake one.
//
// Its arguments are the words of the annotation. What probes ask is in files of the folder /state, which
// outlives a restart of the container: `contained probe ready` succeeds while there is such a file.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "probe" {
		if _, err := os.Stat(file(os.Args[2])); err != nil {
			fmt.Println(os.Args[2], "is not there")
			os.Exit(1)
		}
		return
	}
	words := map[string]string{"run": "forever", "exit": "0"}
	for _, word := range os.Args[1:] {
		name, value, _ := strings.Cut(word, "=")
		words[name] = value
	}
	run(words)
}

func run(words map[string]string) {
	number := count()
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM)
	appear("started", words["started"])
	appear("ready", words["ready"])
	appear("alive", "0s")
	vanish("ready", words["unready"])
	vanish("alive", words["sick"])
	var over <-chan time.Time
	if words["run"] != "forever" {
		over = time.After(seconds(words["run"]))
	}
	select {
	case <-stopped:
		time.Sleep(seconds(words["stop"]))
	case <-over:
		end(words["exit"], number)
	}
}

// The number of this run; the first one is 0.
func count() int {
	text, _ := os.ReadFile(file("runs"))
	number, _ := strconv.Atoi(string(text))
	must(os.WriteFile(file("runs"), []byte(strconv.Itoa(number+1)), 0o600))
	return number
}

func end(codes string, number int) {
	if codes == "oom" {
		exhaust()
	}
	all := strings.Split(codes, ",")
	code, err := strconv.Atoi(all[min(number, len(all)-1)])
	must(err)
	os.Exit(code)
}

func exhaust() {
	var taken [][]byte
	for {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 512 {
			piece[i] = 1
		}
		taken = append(taken, piece)
	}
}

func appear(name, after string) {
	must(os.RemoveAll(file(name)))
	if seconds(after) == 0 {
		must(os.WriteFile(file(name), nil, 0o600))
		return
	}
	time.AfterFunc(seconds(after), func() { must(os.WriteFile(file(name), nil, 0o600)) })
}

func vanish(name, after string) {
	if after != "" {
		time.AfterFunc(seconds(after), func() { must(os.Remove(file(name))) })
	}
}

func file(name string) string {
	return "/state/" + os.Getenv("NAME") + "." + name
}

func seconds(text string) time.Duration {
	if text == "" {
		return 0
	}
	length, err := time.ParseDuration(text)
	must(err)
	return length
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
