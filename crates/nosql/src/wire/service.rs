//! Answers requests.

use std::sync::Arc;
use std::time::Duration;

use tonnage::{Clock, Store};

use super::access::NosqlAccess;
use super::call::{Call, OperationIds};
use super::failure::{Failure, FailureCode, Outcome};
use super::op_code::OpCode;
use super::{definitions, field, multi_delete, query, rows, system, tables, write_multiple};
use crate::nson::{NsonFields, NsonWriter, read_document};
use crate::query::run::Cursors;

/// The versions of the protocol that requests may have. Answers are the same in both.
const VERSIONS: [i16; 2] = [4, 5];

/// The number of the topology, which never changes.
const TOPOLOGY: i32 = 1;

/// A store as the SDKs see it.
#[derive(Debug)]
pub struct NosqlService {
    store: Store,
    clock: Arc<dyn Clock>,
    operation_ids: OperationIds,
    cursors: Cursors,
}

/// The answer to a request.
#[derive(Debug)]
pub struct NosqlAnswer {
    /// Its body.
    pub body: Vec<u8>,
    /// The operation, as metrics name it.
    pub call: &'static str,
    /// What it failed with, if it did.
    pub failure: Option<FailureCode>,
}

/// The head of a request: what is asked for.
struct RequestHead<'d> {
    operation: OpCode,
    table_name: Option<&'d str>,
    namespace: Option<&'d str>,
    timeout: Option<Duration>,
    asks_for_topology: bool,
}

impl NosqlService {
    /// The service of a store, by a clock that decides when rows expire. From then on the store
    /// keeps when rows are written.
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        // A store that cannot do so serves all requests the same, with times of 0.
        let _ = store.keep_write_times();
        Self { store, clock, operation_ids: OperationIds::default(), cursors: Cursors::default() }
    }

    /// Carries out a request and answers it. Tables that it names without a namespace are in this
    /// one. It takes `longest` at most, or as long as the client wants to wait if that is less.
    pub fn answer(
        &self,
        body: &[u8],
        namespace: Option<&str>,
        access: &dyn NosqlAccess,
        longest: Option<Duration>,
    ) -> NosqlAnswer {
        let document = match document_of(body) {
            Ok(document) => document,
            Err(failure) => return protocol_failure(&failure),
        };
        // Failures of what has no operation name none.
        let (operation, answered) = match read_document(document) {
            Ok(document) => {
                match document.fields().and_then(|fields| head_of(fields).transpose()) {
                    Some(Ok((head, fields))) => {
                        let head = RequestHead { namespace, ..head };
                        (Some(head.operation), self.carry_out(&head, fields, access, longest))
                    }
                    Some(Err(failure)) => (None, Err(failure)),
                    None => {
                        (None, Err(Failure::new(FailureCode::UnsupportedProtocol, "Bad header")))
                    }
                }
            }
            Err(fault) => (None, Err(Failure::protocol(fault.to_string()))),
        };
        // Labels of metrics are few and known.
        let call = operation.map_or("other", OpCode::label);
        match answered {
            Ok(body) => NosqlAnswer { body, call, failure: None },
            Err(failure) => NosqlAnswer { call, ..failure_answer(&failure, operation) },
        }
    }

    fn carry_out(
        &self,
        head: &RequestHead<'_>,
        fields: NsonFields<'_>,
        access: &dyn NosqlAccess,
        longest: Option<Duration>,
    ) -> Outcome<Vec<u8>> {
        let payload = fields.get(field::PAYLOAD).and_then(|payload| payload.fields());
        let payload =
            payload.ok_or_else(|| Failure::argument("Bad protocol: No payload in message"))?;
        // The shorter wait decides.
        let timeout = match (head.timeout, longest) {
            (Some(wanted), Some(longest)) => Some(wanted.min(longest)),
            (wanted, longest) => wanted.or(longest),
        };
        let call = Call {
            store: &self.store,
            clock: &*self.clock,
            access,
            operation_ids: &self.operation_ids,
            cursors: &self.cursors,
            operation: head.operation,
            table_name: head.table_name,
            namespace: head.namespace,
            payload,
            timeout,
        };
        let mut out = NsonWriter::default();
        out.begin_map();
        if head.operation.is_of_rows() {
            // Clients look at the code first.
            out.field(field::ERROR_CODE).integer(0);
        }
        if head.operation.tells_topology() && head.asks_for_topology {
            out.field(field::TOPOLOGY).begin_map();
            out.field(field::TOPOLOGY_NUMBER).integer(TOPOLOGY);
            out.field(field::SHARDS).begin_array();
            out.integer(1);
            out.end();
            out.end();
        }
        dispatch(&call, &mut out)?;
        Ok(out.finish())
    }
}

fn dispatch(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    match call.operation {
        OpCode::Get => rows::get(call, out),
        OpCode::Put | OpCode::PutIfAbsent | OpCode::PutIfPresent | OpCode::PutIfVersion => {
            rows::put(call, out)
        }
        OpCode::Delete | OpCode::DeleteIfVersion => rows::delete(call, out),
        OpCode::WriteMultiple => write_multiple::write_multiple(call, out),
        OpCode::MultiDelete => multi_delete::multi_delete(call, out),
        OpCode::GetTable => tables::get_table(call, out),
        OpCode::GetIndexes => tables::get_indexes(call, out),
        OpCode::ListTables => tables::list_tables(call, out),
        OpCode::TableRequest => definitions::table_request(call, out),
        OpCode::SystemRequest => system::system_request(call, out),
        OpCode::SystemStatus => system::system_status(call, out),
        OpCode::Query => query::query(call, out),
        OpCode::Prepare => query::prepare(call, out),
        other => Err(Failure::unsupported(format!("{} operation is not supported", other.name()))),
    }
}

/// The document after the version of the protocol.
fn document_of(body: &[u8]) -> Outcome<&[u8]> {
    let Some((version, document)) = body.split_first_chunk() else {
        return Err(Failure::protocol(match body.len() {
            0 => "empty request content",
            _ => "the request ends in its version",
        }));
    };
    let version = i16::from_be_bytes(*version);
    match VERSIONS.contains(&version) {
        true => Ok(document),
        false => Err(Failure::new(
            FailureCode::UnsupportedProtocol,
            format!("version {version} of the protocol is not spoken: versions 4 and 5 are"),
        )),
    }
}

/// The head of a request, and all of its fields; nothing where it has none.
fn head_of(fields: NsonFields<'_>) -> Outcome<Option<(RequestHead<'_>, NsonFields<'_>)>> {
    let header = fields.get(field::HEADER).and_then(|header| header.fields());
    let Some(header) = header else { return Ok(None) };
    let Some(number) = header.get(field::OPERATION).and_then(|number| number.whole()) else {
        let message = "Unknown op code: null";
        return Err(Failure::new(FailureCode::UnknownOperation, message));
    };
    let operation = OpCode::of_number(number)
        .ok_or_else(|| Failure::protocol(format!("unknown opcode: {number}")))?;
    let timeout = header.get(field::TIMEOUT).and_then(|timeout| timeout.whole()).unwrap_or(0);
    let timeout = u64::try_from(timeout).map_err(|_| {
        let message = format!("{}: Illegal Argument: timeout must be >= 0", operation.name());
        Failure::new(FailureCode::IllegalArgument, message)
    })?;
    let head = RequestHead {
        operation,
        table_name: header.get(field::TABLE_NAME).and_then(|name| name.text()),
        // It comes beside the document.
        namespace: None,
        timeout: Some(Duration::from_millis(timeout)).filter(|timeout| !timeout.is_zero()),
        asks_for_topology: header
            .get(field::TOPOLOGY_SEEN)
            .and_then(|seen| seen.whole())
            .is_some_and(|seen| seen != i64::from(TOPOLOGY)),
    };
    Ok(Some((head, fields)))
}

fn failure_answer(failure: &Failure, operation: Option<OpCode>) -> NosqlAnswer {
    let lead = operation.filter(|_| failure.names_operation).map(OpCode::name);
    let lead = lead.map(|name| format!("{name}: Illegal Argument: ")).unwrap_or_default();
    let mut out = NsonWriter::default();
    out.begin_map();
    out.field(field::ERROR_CODE).integer(failure.code.number());
    out.field(field::ERROR_TEXT).string(&format!("{lead}{}", failure.message));
    out.end();
    NosqlAnswer { body: out.finish(), call: "other", failure: Some(failure.code) }
}

/// The answer to a request that failed before it was looked at.
pub fn early_failure(code: FailureCode, message: &str) -> NosqlAnswer {
    failure_answer(&Failure::new(code, message), None)
}

/// The answer to what is no request at all: a byte and a text, which clients of all versions read.
pub fn protocol_failure(failure: &Failure) -> NosqlAnswer {
    let mut text = NsonWriter::default();
    text.string(&failure.message);
    let mut body = text.finish();
    // In place of the byte that tells a text.
    body[0] = failure.code.number() as u8;
    NosqlAnswer { body, call: "other", failure: Some(failure.code) }
}
