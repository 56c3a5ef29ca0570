//! The peer that the benchmarks measure for the official Rust SDK: tools echo and park, as its own examples write them.
use std::{
    error::Error,
    sync::{Arc, LazyLock},
};

use rmcp::{
    ErrorData, ServerHandler, ServiceExt,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::{
        stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio_util::sync::CancellationToken;

static MARKS: LazyLock<bool> = LazyLock::new(|| std::env::var("ANDON_MARKS").is_ok_and(|v| v == "1"));

/// Tells the driver when something happened, on the clock that both read.
fn mark(what: &str, key: &str) {
    if !*MARKS {
        return;
    }
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    eprintln!("@{what} {key} {}", now.tv_sec * 1_000_000_000 + now.tv_nsec);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    #[schemars(description = "what to send back")]
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Park {
    #[schemars(description = "names the call in the marks")]
    key: String,
}

#[derive(Clone)]
struct PeerServer {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl PeerServer {
    fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    #[tool(description = "Sends the text back")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Waits until it is cancelled")]
    async fn park(
        &self,
        Parameters(Park { key }): Parameters<Park>,
        cancelled: CancellationToken,
    ) -> Result<String, ErrorData> {
        mark("start", &key);
        cancelled.cancelled().await;
        mark("cancel", &key);
        Err(ErrorData::internal_error("cancelled", None))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for PeerServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Stateless, with JSON for quick calls; one server, copied for each request, is quicker than a new one each time.
async fn serve_http(port: u16) -> Result<(), Box<dyn Error>> {
    let server = PeerServer::new();
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, port] = arguments.as_slice()
        && flag == "--http"
    {
        return serve_http(port.parse()?).await;
    }
    // The SDK's own advice for a server on two pipes: faster than its stdio(), which takes a thread for every read.
    PeerServer::new().serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}
