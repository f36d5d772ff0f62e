// Command stream_client speaks to a kubelet as the API server and kubectl do, with their own libraries.
//
//	stream_client exec spdy|websocket|v4 URL          standard streams and exit code are the command's
//	stream_client forward spdy|websocket URL PORT     prints the local port, then forwards until stdin ends
//
// Which streams there are, and whether there is a terminal, is read from the URL's parameters, which are
// those of a kubelet. A terminal has 132 columns and 43 rows.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
)

type fixedSize struct{ told bool }

func (s *fixedSize) Next() *remotecommand.TerminalSize {
	if s.told {
		return nil
	}
	s.told = true
	return &remotecommand.TerminalSize{Width: 132, Height: 43}
}

func main() {
	kind, carrier, target := os.Args[1], os.Args[2], os.Args[3]
	parsed, err := url.Parse(target)
	check(err)
	config := &rest.Config{Host: parsed.Scheme + "://" + parsed.Host}
	config.TLSClientConfig.Insecure = parsed.Scheme == "https"
	if token := os.Getenv("TOKEN"); token != "" {
		config.BearerToken = token
	}
	if kind == "forward" {
		forward(config, carrier, parsed, os.Args[4])
	} else {
		run(config, carrier, parsed)
	}
}

func run(config *rest.Config, carrier string, target *url.URL) {
	executor, err := executor(config, carrier, target)
	check(err)
	asked := target.Query()
	options := remotecommand.StreamOptions{Tty: asked.Get("tty") == "1"}
	if asked.Get("input") == "1" {
		options.Stdin = os.Stdin
	}
	if asked.Get("output") == "1" {
		options.Stdout = os.Stdout
	}
	if asked.Get("error") == "1" {
		options.Stderr = os.Stderr
	}
	if options.Tty {
		options.TerminalSizeQueue = &fixedSize{}
	}
	err = executor.StreamWithContext(context.Background(), options)
	var exit utilexec.CodeExitError
	if errors.As(err, &exit) {
		os.Exit(exit.Code)
	}
	check(err)
}

func executor(config *rest.Config, carrier string, target *url.URL) (remotecommand.Executor, error) {
	switch carrier {
	case "spdy":
		return remotecommand.NewSPDYExecutor(config, "POST", target)
	case "v4":
		return remotecommand.NewWebSocketExecutorForProtocols(config, "GET", target.String(), "v4.channel.k8s.io")
	}
	return remotecommand.NewWebSocketExecutor(config, "GET", target.String())
}

func forward(config *rest.Config, carrier string, target *url.URL, port string) {
	dialer, err := portforward.NewSPDYOverWebsocketDialer(target, config)
	if carrier == "spdy" {
		transport, upgrader, failure := spdy.RoundTripperFor(config)
		check(failure)
		dialer, err = spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", target), nil
	}
	check(err)
	stop, ready := make(chan struct{}), make(chan struct{})
	var said bytes.Buffer
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{":" + port}, stop, ready, &said, os.Stderr)
	check(err)
	go func() {
		<-ready
		ports, err := forwarder.GetPorts()
		check(err)
		fmt.Println(ports[0].Local)
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	check(forwarder.ForwardPorts())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(255)
	}
}
