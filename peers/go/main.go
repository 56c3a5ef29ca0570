// The peer that the benchmarks measure for the official Go SDK: tools echo and park, as its own examples write them.
package main

import (
	"context"
	"fmt"
	"log"
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

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "andon-peer-go", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Sends the text back"}, echo)
	mcp.AddTool(server, &mcp.Tool{Name: "park", Description: "Waits until it is cancelled"}, park)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
