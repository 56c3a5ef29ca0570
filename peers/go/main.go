// The peer that the benchmarks measure for the official Go SDK: tools echo and park, as its own examples write them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"
)

var marks = os.Getenv("ANDON_MARKS") == "1"

// mark tells the driver when something happened, on the clock that both read.
func mark(what, key string) {
	if !marks {
		return
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "@%s %s %d\n", what, key, now.Nano())
}

type echoArgs struct {
	Text string `json:"text" jsonschema:"what to send back"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, args echoArgs) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: args.Text}}}, nil, nil
}

type parkArgs struct {
	Key string `json:"key" jsonschema:"names the call in the marks"`
}

func park(ctx context.Context, _ *mcp.CallToolRequest, args parkArgs) (*mcp.CallToolResult, any, error) {
	mark("start", args.Key)
	<-ctx.Done()
	mark("cancel", args.Key)
	return nil, nil, ctx.Err()
}

// serveHTTP answers quick calls with JSON and lets a disconnect cancel its call: the SDK's defaults do neither.
func serveHTTP(server *mcp.Server, port int) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, PropagateRequestCancellation: true}))
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, mux)
}

func main() {
	port := flag.Int("http", -1, "serve Streamable HTTP on this port of 127.0.0.1, 0 for any; without it, stdio")
	flag.Parse()
	server := mcp.NewServer(&mcp.Implementation{Name: "andon-peer-go", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Sends the text back"}, echo)
	mcp.AddTool(server, &mcp.Tool{Name: "park", Description: "Waits until it is cancelled"}, park)
	var err error
	if *port >= 0 {
		err = serveHTTP(server, *port)
	} else {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	}
	if err != nil {
		log.Fatal(err)
	}
}
