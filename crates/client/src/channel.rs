//! The connection below the calls: TCP, with TLS if the address asks for it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::codegen::http::Uri;
use tonic::transport::{Channel, Endpoint};
use tower_service::Service;

use crate::address::ServerAddress;

/// A peer that answers no ping for so long is gone.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// What may be on its way: a connection of a fast network is not kept waiting.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

/// Connects.
pub(crate) async fn connect(
    address: ServerAddress,
    tls: Option<TlsConnector>,
    timeout: Duration,
) -> Result<Channel, tonic::transport::Error> {
    // The scheme says nothing here: the connector knows whether there is TLS.
    Endpoint::from_shared(format!("http://{}", address.authority()))?
        .connect_timeout(timeout)
        .tcp_nodelay(true)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .http2_keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .connect_with_connector(Connector { address: Arc::new(address), tls })
        .await
}

#[derive(Clone)]
struct Connector {
    address: Arc<ServerAddress>,
    tls: Option<TlsConnector>,
}

impl Connector {
    async fn open(self) -> io::Result<TokioIo<ClientSocket>> {
        let socket = TcpStream::connect((self.address.host.as_str(), self.address.port)).await?;
        socket.set_nodelay(true)?;
        let Some(tls) = self.tls else { return Ok(TokioIo::new(ClientSocket::Plain(socket))) };
        let name = ServerName::try_from(self.address.host.clone()).map_err(io::Error::other)?;
        Ok(TokioIo::new(ClientSocket::Tls(Box::new(tls.connect(name, socket).await?))))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<ClientSocket>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<ClientSocket>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        Box::pin(self.clone().open())
    }
}

/// A socket, with TLS or without.
pub(crate) enum ClientSocket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for ClientSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientSocket::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            ClientSocket::Tls(socket) => Pin::new(socket).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ClientSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientSocket::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            ClientSocket::Tls(socket) => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientSocket::Plain(socket) => Pin::new(socket).poll_flush(context),
            ClientSocket::Tls(socket) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientSocket::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            ClientSocket::Tls(socket) => Pin::new(socket).poll_shutdown(context),
        }
    }
}
