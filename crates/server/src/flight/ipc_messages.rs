//! The messages of an Arrow IPC stream that comes as the body of a request, as Flight has them.
//!
//! 1. A message begins with a mark of 4 bytes, the length of its description, the description, and
//!    the buffers, whose length the description names. Nothing is taken before all of it has come.
//! 2. Arrow lets a message carry metadata. The value of the name `tonnage` is what Flight has in
//!    `app_metadata`: the end marker, and the numbers to acknowledge.
//! 3. A description of length 0 ends the stream. So does the end of the body between two messages.

use arrow_flight::FlightData;
use arrow_ipc::{Message, root_as_message};
use axum::body::{Body, BodyDataStream, Bytes};
use bytes::BytesMut;
use futures::StreamExt;
use tonnage::{Error, Result};

use super::stream_event::StreamEvent;

/// The mark, and the length of the description.
const PREFIX_BYTES: usize = 8;
/// Tells messages from those of Arrow before 0.15, which had none.
const MARK: [u8; 4] = [0xFF; 4];
/// The name of the metadata that is meant for the server.
const METADATA: &str = "tonnage";

/// The messages of a body.
pub(super) struct IpcMessages {
    body: BodyDataStream,
    /// What came and is no whole message yet.
    held: BytesMut,
    /// Less than this need not be looked at.
    wanted: usize,
    message_bytes_max: usize,
}

impl IpcMessages {
    pub(super) fn new(body: Body, message_bytes_max: usize) -> Self {
        let body = body.into_data_stream();
        Self { body, held: BytesMut::new(), wanted: PREFIX_BYTES, message_bytes_max }
    }

    /// The next message. Dropping the future loses nothing.
    ///
    /// # Errors
    /// `Invalid` for what is not Arrow IPC; `Exhausted` for a message that is too large.
    pub(super) async fn next(&mut self) -> Result<StreamEvent> {
        loop {
            if let Some(event) = self.parse()? {
                return Ok(event);
            }
            match self.body.next().await {
                Some(Ok(bytes)) => self.held.extend_from_slice(&bytes),
                Some(Err(error)) => {
                    return Ok(StreamEvent::Torn(format!("the body was cut off: {error}")));
                }
                None if self.held.is_empty() => return Ok(StreamEvent::Ended),
                None => return Ok(StreamEvent::Torn("the body ends within a message".into())),
            }
        }
    }

    /// The first message of what is held, if it is whole.
    fn parse(&mut self) -> Result<Option<StreamEvent>> {
        if self.held.len() < self.wanted {
            return Ok(None);
        }
        let Some(described) = described_bytes(&self.held)? else {
            return Ok(Some(StreamEvent::Ended));
        };
        let head = PREFIX_BYTES + self.checked(described as u64)?;
        if self.held.len() < head {
            self.wanted = head;
            return Ok(None);
        }
        let description = &self.held[PREFIX_BYTES..head];
        let message =
            root_as_message(description).map_err(|error| malformed(&error.to_string()))?;
        let length = message.bodyLength();
        let length = u64::try_from(length)
            .map_err(|_| malformed(&format!("a message has a body of {length} bytes")))?;
        let whole = head + self.checked(length)?;
        if self.held.len() < whole {
            // One growth for all that is still to come: pieces of a body are small.
            self.held.reserve(whole - self.held.len());
            self.wanted = whole;
            return Ok(None);
        }
        let app_metadata = metadata(message);
        // Only now is anything taken: a future that is dropped before loses nothing.
        self.wanted = PREFIX_BYTES;
        let mut bytes = self.held.split_to(whole).freeze();
        let data_body = bytes.split_off(head);
        let data_header = bytes.slice(PREFIX_BYTES..);
        let message = FlightData { data_header, data_body, app_metadata, ..FlightData::default() };
        Ok(Some(StreamEvent::Message(Box::new(message))))
    }

    /// An announced length, as one that may be held in memory.
    fn checked(&self, bytes: u64) -> Result<usize> {
        match usize::try_from(bytes) {
            Ok(bytes) if bytes <= self.message_bytes_max => Ok(bytes),
            _ => Err(Error::exhausted(format!(
                "a message has {bytes} bytes, {} are the most (message_bytes_max): send smaller \
                 batches",
                self.message_bytes_max
            ))),
        }
    }
}

/// How long the description of the next message is; nothing where the stream says that it ends.
fn described_bytes(held: &[u8]) -> Result<Option<usize>> {
    let (Some(mark), Some(length)) = (held.first_chunk::<4>(), held[4..].first_chunk::<4>()) else {
        return Err(Error::internal("a message is looked at before its prefix came"));
    };
    if *mark != MARK {
        return Err(malformed("a message does not begin with FF FF FF FF"));
    }
    match i32::from_le_bytes(*length) {
        0 => Ok(None),
        length => usize::try_from(length)
            .map(Some)
            .map_err(|_| malformed(&format!("a description has {length} bytes"))),
    }
}

fn metadata(message: Message<'_>) -> Bytes {
    let entries = message.custom_metadata().into_iter().flatten();
    let mut meant = entries.filter(|entry| entry.key() == Some(METADATA));
    let value = meant.next().and_then(|entry| entry.value());
    value.map(|value| Bytes::copy_from_slice(value.as_bytes())).unwrap_or_default()
}

fn malformed(what: &str) -> Error {
    Error::invalid(format!("the body is not a stream of Arrow IPC: {what}"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use arrow_ipc::writer::StreamWriter;

    use super::*;
    use crate::flight::decode::FlightDecoder;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
        RecordBatch::try_from_iter_with_nullable([("n", numbers, true)]).unwrap()
    }

    fn stream(batches: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, batch().schema_ref()).unwrap();
        (0..batches).for_each(|_| writer.write(&batch()).unwrap());
        writer.finish().unwrap();
        bytes
    }

    fn messages(pieces: Vec<Vec<u8>>, bytes_max: usize) -> IpcMessages {
        let pieces = pieces.into_iter().map(Ok::<_, Infallible>);
        IpcMessages::new(Body::from_stream(futures::stream::iter(pieces)), bytes_max)
    }

    /// The events until the stream is over.
    fn events(mut messages: IpcMessages) -> Vec<Result<StreamEvent>> {
        let mut events = Vec::new();
        loop {
            let event = futures::executor::block_on(messages.next());
            let is_last = !matches!(event, Ok(StreamEvent::Message(_)));
            events.push(event);
            if is_last {
                return events;
            }
        }
    }

    #[test]
    fn batches_come_out_however_the_body_is_cut_into_pieces() {
        let bytes = stream(2);
        for size in [1, 7, 64, bytes.len()] {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let mut decoder = FlightDecoder::default();
            let mut batches = Vec::new();
            for event in events(messages(pieces, 1 << 20)) {
                match event.unwrap() {
                    StreamEvent::Message(message) => {
                        batches.extend(decoder.decode(&message).unwrap());
                    }
                    StreamEvent::Ended => {}
                    StreamEvent::Torn(why) => panic!("{why}"),
                }
            }
            assert_eq!(batches, [batch(), batch()], "{size}");
        }
    }

    #[test]
    fn a_body_that_is_cut_anywhere_ends_between_messages_or_is_torn() {
        let bytes = stream(1);
        for end in 0..bytes.len() {
            let last = events(messages(vec![bytes[..end].to_vec()], 1 << 20)).pop().unwrap();
            match last.unwrap() {
                StreamEvent::Ended => {
                    // Only where a message begins may the body end.
                    assert!(end == bytes.len() || end == 0 || bytes[end..].starts_with(&MARK));
                }
                StreamEvent::Torn(_) => {}
                StreamEvent::Message(_) => panic!("{end}"),
            }
        }
    }

    #[test]
    fn what_is_no_message_is_an_error_and_takes_no_memory() {
        let cases: [(&[u8], &str); 5] = [
            (b"id,name\n2,Emma\n", "FF FF FF FF"),
            (&[0xFF; 8], "-1 bytes"),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], "message_bytes_max"),
            (
                &[0xFF, 0xFF, 0xFF, 0xFF, 8, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9],
                "not a stream of Arrow",
            ),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 9], "not a stream of Arrow"),
        ];
        for (bytes, wanted) in cases {
            let error = events(messages(vec![bytes.to_vec()], 1 << 20)).pop().unwrap().unwrap_err();
            assert!(error.message().contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_message_larger_than_the_limit_is_refused_before_it_came() {
        let error = events(messages(vec![stream(1)], 64)).pop().unwrap().unwrap_err();
        assert!(error.message().contains("send smaller batches"), "{error}");
    }
}
