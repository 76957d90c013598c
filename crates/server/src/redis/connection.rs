//! A connection of an event loop.

use std::io;
use std::time::{Duration, Instant};

use tonnage_resp::Client;

use super::memory::ClientShare;
use super::socket::{ClientStream, ReadOutcome};
use crate::auth::Caller;
use crate::listen::AdmittedConnection;
use crate::statements::RunningStatement;

/// A connection that was accepted.
pub(super) struct NewConnection {
    pub(super) stream: ClientStream,
    pub(super) address: String,
    pub(super) local_address: String,
    pub(super) counted: AdmittedConnection,
}

/// Time for a TLS handshake.
const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Time for a login, where there are users: who has not said who they are keeps no place.
const LOGIN_MAX: Duration = Duration::from_secs(75);

/// A connection and its client.
pub(super) struct Connection {
    pub(super) stream: ClientStream,
    /// Away while its commands are carried out.
    pub(super) client: Option<Box<Client>>,
    /// Who has logged in, to look again when the users change.
    pub(super) caller: Option<Caller>,
    /// Whether the socket may have bytes.
    pub(super) is_readable: bool,
    /// Whether an event said that the client sends nothing more: bytes may still wait before the
    /// end, and no further event reports it.
    pub(super) is_read_closed: bool,
    /// Whether the client sends nothing more, and all it sent was read.
    pub(super) is_ended: bool,
    /// Whether the loop has it on its list.
    pub(super) is_scheduled: bool,
    pub(super) is_logging_in: bool,
    /// The call of tables that is carried out. It is cancelled with the connection.
    pub(super) running: Option<RunningStatement>,
    /// When the loop looks at it by itself, in milliseconds since 1970.
    pub(super) deadline_ms: Option<u64>,
    /// Since when the client has taken nothing of its replies.
    stalled_since: Option<Instant>,
    /// Since when nobody has been logged in.
    pub(super) anonymous_since: Instant,
    pub(super) share: ClientShare,
    /// Its position among the connections.
    _counted: AdmittedConnection,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverdueReason {
    SlowReader,
    Silence,
}

impl Connection {
    pub(super) fn new(new: NewConnection, client: Box<Client>, share: ClientShare) -> Self {
        Self {
            stream: new.stream,
            client: Some(client),
            caller: None,
            // What came before it was registered is told by no event.
            is_readable: true,
            is_read_closed: false,
            is_ended: false,
            is_scheduled: false,
            is_logging_in: false,
            running: None,
            deadline_ms: None,
            stalled_since: None,
            anonymous_since: Instant::now(),
            share,
            _counted: new.counted,
        }
    }

    /// Nobody is logged in any more. Whoever it was has the time of a newcomer to log in again.
    pub(super) fn forget_caller(&mut self) {
        self.caller = None;
        self.anonymous_since = Instant::now();
    }

    /// Reads once, if the client wants to be read.
    ///
    /// # Errors
    /// What the socket says: then it is closed.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let Some(client) = &mut self.client else { return Ok(()) };
        if !self.is_readable || self.is_ended || !client.wants_input() {
            return Ok(());
        }
        let (read, is_readable) = match self.stream.read(buffer)? {
            ReadOutcome::Some(read) => (read, true),
            ReadOutcome::Last(read) => (read, false),
            ReadOutcome::End => {
                self.is_ended = true;
                (0, false)
            }
        };
        self.is_readable = is_readable || (self.is_read_closed && !self.is_ended);
        client.receive(&buffer[..read]);
        Ok(())
    }

    /// Sends what the socket takes.
    ///
    /// # Errors
    /// What the socket says: then it is closed.
    pub(super) fn write(&mut self) -> io::Result<()> {
        let Some(client) = &mut self.client else { return Ok(()) };
        if client.output().is_empty() && !self.stream.wants_write() {
            return Ok(());
        }
        let written = self.stream.write(client.output())?;
        client.sent(written);
        if client.output().is_empty() && !self.stream.wants_write() {
            self.stalled_since = None;
        } else if written > 0 || self.stalled_since.is_none() {
            self.stalled_since = Some(Instant::now());
        }
        Ok(())
    }

    /// Whether there is something to do without an event.
    pub(super) fn has_work(&self) -> bool {
        let Some(client) = &self.client else { return false };
        client.has_waiting() || (self.is_readable && !self.is_ended && client.wants_input())
    }

    /// Whether it is to be closed.
    pub(super) fn is_over(&self) -> bool {
        let Some(client) = &self.client else { return false };
        // It waits for an element that it would not take.
        if client.is_waiting() && self.is_read_closed {
            return true;
        }
        // TLS may still hold the last reply.
        let is_sent = client.output().is_empty() && !self.stream.wants_write();
        let is_working = self.is_logging_in || self.running.is_some();
        let is_done = self.is_ended && !client.has_waiting() && !is_working;
        (client.is_closed() && (is_sent || !client.output().is_empty())) || (is_done && is_sent)
    }

    /// Why it is to be closed now, if it is.
    pub(super) fn overdue(&self, now: Instant, reader_timeout: Duration) -> Option<OverdueReason> {
        let client = self.client.as_ref()?;
        let stalled = self.stalled_since.map(|since| now.saturating_duration_since(since));
        if stalled.is_some_and(|stalled| stalled >= reader_timeout) {
            return Some(OverdueReason::SlowReader);
        }
        let age = now.saturating_duration_since(self.anonymous_since);
        let is_late = (self.stream.is_handshaking() && age >= TLS_HANDSHAKE_MAX)
            || (!client.access().is_authenticated() && !self.is_logging_in && age >= LOGIN_MAX);
        is_late.then_some(OverdueReason::Silence)
    }
}
