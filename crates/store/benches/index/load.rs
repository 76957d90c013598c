//! Loads with more and more indexes.

use std::time::Duration;

use tonnage::{BulkPutOptions, Durability, Store};

use super::cars::Cars;
use super::{Fixture, Plan, tell, timed};

/// How long a load took.
struct Took {
    durable: Duration,
    settled: Duration,
    /// The processor's time until durable, of all threads: what other programs do on the machine
    /// hardly shows in it.
    processor: Duration,
}

/// Loads all rows until they are durable.
pub(crate) fn load(store: &Store, cars: &Cars) {
    let options = BulkPutOptions { durability: Durability::Fsync, ..Default::default() };
    let report = store.bulk_put(cars.streams(), &options).expect("loads");
    assert_eq!(report.total.inserted, cars.count, "no row comes twice");
}

fn load_and_settle(indexes: usize, cars: &Cars) -> Took {
    let fixture = Fixture::new(indexes);
    let before = processor_time();
    let ((durable, processor), settled) = timed(|| {
        let ((), durable) = timed(|| load(&fixture.store, cars));
        let processor = processor_time() - before;
        fixture.store.settle().expect("settles");
        (durable, processor)
    });
    Took { durable, settled, processor }
}

/// What this process has used of the processors so far, as Linux tells it in hundredths of a
/// second; nothing elsewhere.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name, which may hold anything but ends with the last bracket.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn run(plan: &Plan, cars: &Cars) {
    let mut all: Vec<Vec<Took>> = (0..=plan.indexes).map(|_| Vec::new()).collect();
    // In turn, so that a slow phase of the machine does not hit one of them alone.
    for _ in 0..plan.rounds {
        all.iter_mut()
            .enumerate()
            .for_each(|(indexes, times)| times.push(load_and_settle(indexes, cars)));
    }
    let of =
        |times: &[Took], which: fn(&Took) -> Duration| median(times.iter().map(which).collect());
    let (mut without, mut without_processor) = (Duration::ZERO, Duration::ZERO);
    for (indexes, times) in all.iter().enumerate() {
        let (durable, processor) =
            (of(times, |took| took.durable), of(times, |took| took.processor));
        tell(&format!("load with {indexes} indexes until durable"), cars.count, durable);
        tell(
            &format!("load with {indexes} indexes until settled"),
            cars.count,
            of(times, |took| took.settled),
        );
        if indexes == 0 {
            (without, without_processor) = (durable, processor);
            continue;
        }
        let an_entry_us = |with: Duration, without| {
            with.saturating_sub(without).as_secs_f64() * 1e6 / (cars.count * indexes as u64) as f64
        };
        println!(
            "{:<44} {:>9.3} us of time, {:.3} us of a processor",
            format!("an entry of {indexes} indexes costs"),
            an_entry_us(durable, without),
            an_entry_us(processor, without_processor)
        );
    }
    println!(
        "{:<44} {:>9.3} us of a processor",
        "a row costs",
        without_processor.as_secs_f64() * 1e6 / cars.count as f64
    );
}
