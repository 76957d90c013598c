//! How soon slow pushers are acknowledged.
//!
//! `cargo bench -p tonnage --bench pushers -- --pushers 1000 --rounds 10 --interval-ms 1000`
//!
//! So many streams push into one load, each a row every half second. It prints the median, the 99th
//! percentile and the longest of the times from push to acknowledgement, which should stay within
//! the flush interval and the time of a flush. Files go to `TONNAGE_BENCH_DIR`, or to the directory
//! for temporary files, and are removed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tonnage::{BulkPutCallbacks, BulkPutOptions, Payload, Row, Store};

const PAUSE: Duration = Duration::from_millis(500);

/// When the entries of each stream were pushed that are not durable yet, and how long the others
/// took.
struct Acknowledgements {
    waiting: Vec<Mutex<Waiting>>,
    took: Mutex<Vec<Duration>>,
}

#[derive(Default)]
struct Waiting {
    pushed: VecDeque<Instant>,
    durable: u64,
}

impl BulkPutCallbacks for Acknowledgements {
    fn durable(&self, stream: usize, position: u64) {
        let mut waiting = self.waiting[stream].lock().expect("nobody panics");
        let count = (position - waiting.durable) as usize;
        waiting.durable = position;
        let took = waiting.pushed.drain(..count).map(|at| at.elapsed());
        self.took.lock().expect("nobody panics").extend(took);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [pushers, rounds, interval_ms] = arguments()?;
    let directory = match std::env::var_os("TONNAGE_BENCH_DIR") {
        Some(place) => tempfile::tempdir_in(place)?,
        None => tempfile::tempdir()?,
    };
    let store = Store::open(directory.path().join("store").display().to_string())?;
    store.execute("CREATE TABLE t (pusher LONG, n LONG, PRIMARY KEY (SHARD(pusher), n))")?;
    let told = Arc::new(Acknowledgements {
        waiting: (0..pushers).map(|_| Mutex::default()).collect(),
        took: Mutex::default(),
    });
    let options = BulkPutOptions {
        callbacks: told.clone(),
        flush_interval: Some(Duration::from_millis(interval_ms as u64)),
        ..Default::default()
    };
    let load = store.load(&options)?;
    let streams: Vec<usize> = (0..pushers).map(|number| load.stream(number.to_string())).collect();
    let threads = pushers.clamp(1, 50);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let (load, streams, told) = (&load, &streams, &told);
            scope.spawn(move || {
                for round in 0..rounds {
                    let begun = Instant::now();
                    for &stream in streams.iter().skip(first).step_by(threads) {
                        let row = Row::new().with("pusher", stream as i64).with("n", round as i64);
                        let rows = Payload::Rows { table: "t".into(), rows: vec![row] };
                        let now = Instant::now();
                        let mut waiting = told.waiting[stream].lock().expect("nobody panics");
                        waiting.pushed.push_back(now);
                        drop(waiting);
                        load.push(stream, rows).expect("the load takes rows");
                        std::thread::sleep(PAUSE / (streams.len() / threads).max(1) as u32);
                    }
                    std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
                }
            });
        }
    });
    let report = load.finish()?;
    assert_eq!(report.total.inserted, (pushers * rounds) as u64);
    tell(&told, interval_ms);
    Ok(())
}

fn tell(told: &Acknowledgements, interval_ms: usize) {
    let mut took = told.took.lock().expect("nobody panics").clone();
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "interval {interval_ms} ms: median {:.0} ms, 99 % within {:.0} ms, longest {:.0} ms",
        at(50),
        at(99),
        at(100)
    );
}

fn arguments() -> Result<[usize; 3], Box<dyn std::error::Error>> {
    let mut values = [1_000, 10, 1_000];
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let place = match argument.as_str() {
            "--pushers" => 0,
            "--rounds" => 1,
            "--interval-ms" => 2,
            // Cargo passes this to every benchmark.
            "--bench" => continue,
            _ => return Err(format!("unknown argument {argument}").into()),
        };
        let value = arguments.next().ok_or_else(|| format!("{argument} wants a value"))?;
        values[place] = value.parse::<usize>()?.max(1);
    }
    Ok(values)
}
