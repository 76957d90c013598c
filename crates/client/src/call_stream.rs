//! Calls on single rows and pairs over one stream, which is held from call to call: a message there
//! and one back, where a call by itself costs a request of HTTP/2 with its headers.
//!
//! Calls are carried out in their order, and answered in the same order. A stream that the server
//! ends in good order has carried out no call without an answer; so such a call is sent again.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{FlightData, FlightDescriptor};
use futures::FutureExt;
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonnage::internal::sync::lock;
use tonnage_wire::{AnswersMessage, CallAnswer, CallMessage, CallsMessage};

/// Messages that wait for the network.
const QUEUED_MESSAGES: usize = 4;
/// Calls that have a stream at a time; further ones are actions by themselves. A server takes 256
/// streams on a connection, of all calls, and one that is held gives its place to no other.
const IN_USE_MAX: usize = 64;
/// Streams that are held for later calls.
const IDLE_MAX: usize = 64;
type Answer<T> = std::result::Result<T, Status>;
type CallMessages = ReceiverStream<FlightData>;

/// A stream of calls, and of their answers.
pub(crate) struct CallStream {
    calls: mpsc::Sender<FlightData>,
    answers: Streaming<FlightData>,
    arrived: VecDeque<CallAnswer>,
}

/// The streams that no call uses now, and how many calls use one.
#[derive(Default)]
pub(crate) struct IdleStreams {
    idle: Mutex<Vec<CallStream>>,
    in_use: AtomicUsize,
}

/// The place of a call that uses a stream; dropping it gives it back.
pub(crate) struct StreamPlace<'a>(&'a AtomicUsize);

impl Drop for StreamPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl IdleStreams {
    /// A place, unless all are taken.
    pub(crate) fn place(&self) -> Option<StreamPlace<'_>> {
        let place = StreamPlace(&self.in_use);
        (self.in_use.fetch_add(1, Ordering::Relaxed) < IN_USE_MAX).then_some(place)
    }

    /// A stream that is still open.
    pub(crate) fn take(&self) -> Option<CallStream> {
        loop {
            let mut stream = lock(&self.idle).pop()?;
            if stream.is_open() {
                return Some(stream);
            }
        }
    }

    pub(crate) fn give_back(&self, stream: CallStream) {
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE_MAX {
            idle.push(stream);
        }
    }
}

impl CallStream {
    /// Opens a stream; `request` says who calls.
    pub(crate) async fn open(
        mut flight: FlightServiceClient<Channel>,
        request: impl FnOnce(CallMessages) -> Request<CallMessages>,
    ) -> Answer<CallStream> {
        let (calls, messages) = mpsc::channel(QUEUED_MESSAGES);
        let descriptor = FlightDescriptor::new_cmd("{\"calls\": {}}");
        let first = FlightData::new().with_descriptor(descriptor);
        // The channel is empty: there is room.
        let _ = calls.try_send(first);
        let request = request(ReceiverStream::new(messages));
        let answers = flight.do_exchange(request).await?.into_inner();
        Ok(CallStream { calls, answers, arrived: VecDeque::new() })
    }

    /// Whether the server has not ended it. For a stream without unanswered calls.
    fn is_open(&mut self) -> bool {
        self.answers.message().now_or_never().is_none()
    }

    /// Sends calls. While the network takes none, answers are kept that come.
    pub(crate) async fn send(&mut self, calls: Vec<CallMessage>) -> Answer<()> {
        let message = CallsMessage { calls }.encode_to_vec();
        let data = FlightData::new().with_app_metadata(message);
        loop {
            tokio::select! {
                room = self.calls.reserve() => {
                    // A stream that has ended says so in place of an answer.
                    if let Ok(room) = room {
                        room.send(data);
                    }
                    return Ok(());
                }
                message = self.answers.message() => match message? {
                    Some(message) => self.arrived.extend(answers_of(message)?),
                    None => return Ok(()),
                },
            }
        }
    }

    /// The next answer; nothing where the stream has ended in good order.
    pub(crate) async fn answer(&mut self) -> Answer<Option<CallAnswer>> {
        loop {
            if let Some(answer) = self.arrived.pop_front() {
                return Ok(Some(answer));
            }
            match self.answers.message().await? {
                Some(message) => self.arrived.extend(answers_of(message)?),
                None => return Ok(None),
            }
        }
    }
}

fn answers_of(message: FlightData) -> Answer<Vec<CallAnswer>> {
    AnswersMessage::decode(message.app_metadata)
        .map(|message| message.answers)
        .map_err(|error| Status::internal(format!("an answer is of another version: {error}")))
}
