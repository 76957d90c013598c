//! Pairs put and got over Flight, beside the same calls on the store itself.
//!
//! `cargo bench -p tonnage-server --bench flight -- --pairs 5000000 --gets 1000000`. Client and
//! server are one process here, so its processor time is that of both.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{BinaryArray, RecordBatch};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{FlightData, FlightDescriptor, SchemaAsIpc};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use clap::Parser;
use tonic::transport::Channel;
use tonnage::{BulkPutOptions, Durability, PairGetOptions, Pairs, Store};
use tonnage_server::{Server, Settings, ShutdownHandle};

const BATCH: u64 = 8_192;

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 5_000_000)]
    pairs: u64,
    #[arg(long, default_value_t = 1_000_000)]
    gets: u64,
    /// What `cargo bench` passes on
    #[arg(long, hide = true)]
    bench: bool,
}

/// A key of 16 bytes, in no order.
fn key(number: u64) -> [u8; 16] {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mixed.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

fn value(number: u64) -> [u8; 100] {
    let mut value = [0; 100];
    for (part, bytes) in value.chunks_mut(8).enumerate() {
        let mixed = (number + part as u64).wrapping_mul(0xd134_2543_de82_ef95).to_le_bytes();
        bytes.copy_from_slice(&mixed[..bytes.len()]);
    }
    value
}

fn pairs(first: u64, last: u64) -> Pairs {
    let mut pairs = Pairs::with_capacity((last - first) as usize, 0, 0);
    for number in first..last {
        pairs.push_parts(&[&key(number)], &[], &value(number)).expect("a key with a component");
    }
    pairs
}

fn batch(numbers: impl Iterator<Item = u64> + Clone, with_values: bool) -> RecordBatch {
    let keys = BinaryArray::from_iter_values(numbers.clone().map(key));
    let mut columns = vec![("key", Arc::new(keys) as _)];
    if with_values {
        let values = BinaryArray::from_iter_values(numbers.map(value));
        columns.push(("value", Arc::new(values) as _));
    }
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Batches as messages, built on request.
fn messages(
    command: &str,
    schema: &arrow::datatypes::Schema,
    batches: impl Iterator<Item = RecordBatch> + Send + 'static,
) -> impl Iterator<Item = FlightData> + Send + 'static {
    let options = IpcWriteOptions::default();
    let mut first: FlightData = SchemaAsIpc::new(schema, &options).into();
    first.flight_descriptor = Some(FlightDescriptor::new_cmd(command.to_owned()));
    let (generator, mut context) = (IpcDataGenerator::default(), IpcWriteContext::default());
    let mut dictionaries = DictionaryTracker::new(false);
    std::iter::once(first).chain(batches.map(move |batch| {
        let encoded = generator.encode(&batch, &mut dictionaries, &options, &mut context);
        encoded.expect("bytes are encoded").1.into()
    }))
}

/// The numbers of the keys that are got: spread over all, in no order.
fn wanted(args: &Args) -> impl Iterator<Item = u64> + Clone + Send + use<> {
    let (gets, pairs) = (args.gets, args.pairs);
    (0..gets).map(move |number| number.wrapping_mul(0x9e37_79b1) % pairs)
}

fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.);
    (ticks(11) + ticks(12)) / 100.
}

fn measure(what: &str, count: u64, run: impl FnOnce() -> u64) {
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let done = run();
    let (seconds, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let millions = count as f64 / 1e6;
    println!(
        "{what:<22} {done:>9} of {count:>9} in {seconds:>6.2} s: {:>5.2} M/s, {:.2} core-s a million",
        millions / seconds,
        cpu / millions
    );
}

fn embedded(args: &Args, directory: &std::path::Path) -> tonnage::Result<()> {
    let store = Store::open(directory.join("embedded").display().to_string())?;
    let options = BulkPutOptions { durability: Durability::Fsync, ..Default::default() };
    let count = args.pairs;
    measure("embedded bulk put", count, || {
        let batches = (0..count).step_by(BATCH as usize);
        let stream = batches.map(move |first| Ok(pairs(first, (first + BATCH).min(count))));
        store.kv().bulk_put(stream, &options).expect("the put works").total.inserted
    });
    for round in ["embedded bulk get, 1st", "embedded bulk get, 2nd"] {
        let keys: Vec<u64> = wanted(args).collect();
        let keys: Vec<Vec<u64>> = keys.chunks(BATCH as usize).map(<[u64]>::to_vec).collect();
        let keys = keys.into_iter().map(|numbers| {
            let mut keys = Pairs::new();
            for number in numbers {
                keys.push_parts(&[&key(number)], &[], &[]).expect("a key with a component");
            }
            keys
        });
        measure(round, args.gets, || {
            let got = store.kv().bulk_get_batches(keys, &PairGetOptions::default());
            got.expect("the get starts").map(|batch| batch.expect("pairs").len() as u64).sum()
        });
    }
    Ok(())
}

fn over_flight(args: &Args, directory: &std::path::Path) -> tonnage::Result<()> {
    let store = Store::open(directory.join("served").display().to_string())?;
    let settings = Settings {
        http: Some("off".into()),
        flight: Some("127.0.0.1:0".into()),
        loads_max: Some(1),
        ..Settings::default()
    };
    let server = Server::open(store, settings.resolve()?)?;
    let address = format!("http://{}", server.addresses().flight.expect("Flight is on"));
    let stop = ShutdownHandle::default();
    let stopped = stop.clone();
    let serving = std::thread::spawn(move || server.run(&stopped));
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let channel = Channel::from_shared(address).expect("an address");
    let channel = runtime.block_on(channel.connect()).expect("the server listens");
    let mut client = FlightServiceClient::new(channel).max_decoding_message_size(usize::MAX);
    let count = args.pairs;
    measure("Flight bulk put", count, || {
        let batches = (0..count).step_by(BATCH as usize);
        let batches = batches.map(move |first| batch(first..(first + BATCH).min(count), true));
        let command = r#"{"bulk_put": {"pairs": true, "durability": "fsync"}}"#;
        let schema = batch(0..1, true).schema();
        let end = FlightData::new().with_app_metadata(format!(r#"{{"end": {{"rows": {count}}}}}"#));
        let sent = messages(command, &schema, batches).chain([end]);
        runtime.block_on(async {
            let put = client.do_put(futures::stream::iter(sent)).await;
            let mut said = put.expect("the put works").into_inner();
            let mut inserted = 0;
            while let Some(result) = said.message().await.expect("the put works") {
                let message: serde_json::Value =
                    serde_json::from_slice(&result.app_metadata).expect("JSON");
                if let Some(completed) = message.get("completed") {
                    inserted = completed["counts"]["inserted"].as_u64().unwrap_or(0);
                }
            }
            inserted
        })
    });
    for round in ["Flight bulk get, 1st", "Flight bulk get, 2nd"] {
        let keys: Vec<u64> = wanted(args).collect();
        let keys: Vec<_> = keys.chunks(65_536).map(|k| batch(k.iter().copied(), false)).collect();
        let schema = keys[0].schema();
        let sent = messages(r#"{"bulk_get": {"pairs": true}}"#, &schema, keys.into_iter());
        measure(round, args.gets, || {
            runtime.block_on(async {
                let get = client.do_exchange(futures::stream::iter(sent)).await;
                let came = get.expect("the get works").into_inner();
                let came = futures::TryStreamExt::map_err(came, |status| {
                    arrow_flight::error::FlightError::from(status)
                });
                let rows =
                    arrow_flight::decode::FlightRecordBatchStream::new_from_flight_data(came);
                futures::StreamExt::fold(rows, 0, |sum, batch| async move {
                    sum + batch.expect("rows").num_rows() as u64
                })
                .await
            })
        });
    }
    stop.stop();
    serving.join().expect("the server ends")
}

fn main() -> tonnage::Result<()> {
    let args = Args::parse();
    let directory = tempfile::tempdir().expect("a temporary directory");
    embedded(&args, directory.path())?;
    over_flight(&args, directory.path())
}
