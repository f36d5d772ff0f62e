// Does what greeter.py of the add-on does, as one static program, of which an image can be made.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

type review struct {
	APIVersion string `json:"apiVersion"`
	Request    struct {
		UID string `json:"uid"`
	} `json:"request"`
}

func main() {
	flags := map[string]string{}
	for _, word := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		flags[name] = value
	}
	go func() {
		certificate := func(name string) string { return filepath.Join(flags["certs"], name) }
		log.Fatal(http.ListenAndServeTLS(flags["bind"]+":"+flags["hook"], certificate("tls.crt"), certificate("tls.key"), http.HandlerFunc(refuse)))
	}()
	greet := func(answer http.ResponseWriter, _ *http.Request) {
		text, err := os.ReadFile(flags["greeting"])
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.Write(text)
	}
	log.Fatal(http.ListenAndServe(flags["bind"]+":"+flags["port"], http.HandlerFunc(greet)))
}

// Refuses what the API server asks about.
func refuse(answer http.ResponseWriter, request *http.Request) {
	var asked review
	if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(answer).Encode(map[string]any{
		"apiVersion": asked.APIVersion,
		"kind":       "AdmissionReview",
		"response": map[string]any{
			"uid": asked.Request.UID, "allowed": false, "status": map[string]string{"message": "no greeting"},
		},
	})
}
