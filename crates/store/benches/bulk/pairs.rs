//! Pairs: bulk put and bulk get against raw RocksDB.

use tonnage::{
    BulkPutOptions, Durability, EntryStream, PairGetOptions, Pairs, Result, Store, pair_stream,
};

use crate::data::{VALUE_LEN, Values, key, mix};
use crate::measure::{memory_mib, report, reset_peak_memory, timed};
use crate::{Outcome, Plan, raw};

const STREAMS: u64 = 2;
const BATCH_ROWS: u64 = 8_192;
const ROUNDS: usize = 3;

pub(crate) fn run(plan: &Plan) -> Outcome {
    println!(
        "pairs: {} of 16-byte random keys and {VALUE_LEN}-byte values, memory limit {} MiB",
        plan.pairs, plan.memory_mib
    );
    let gets: Vec<u64> = (0..plan.gets).map(|number| mix(number ^ 0xABCD) % plan.pairs).collect();
    let path = plan.root.join("pairs");
    // The cache holds everything: gets are warm.
    let store =
        Store::builder(path.to_str().ok_or("the path is not text")?).cache_bytes(6 << 30).open()?;
    put(plan, &store)?;
    if plan.wants("get") {
        get(&store, &gets)?;
    }
    drop(store);
    std::fs::remove_dir_all(path)?;
    if plan.raw { run_raw(plan, &gets) } else { Ok(()) }
}

fn put(plan: &Plan, store: &Store) -> Outcome {
    reset_peak_memory();
    let before = memory_mib().1;
    let options = BulkPutOptions {
        durability: Durability::Fsync,
        memory_bytes_max: Some(plan.memory_mib << 20),
        ..BulkPutOptions::default()
    };
    let streams = (0..STREAMS).map(|number| stream(plan, number)).collect();
    let (put, durable) = timed(|| store.bulk_put(streams, &options));
    let counts = put?.total;
    assert_eq!((counts.inserted, counts.failed), (plan.pairs, 0), "every pair is stored");
    let (settled, settling) = timed(|| store.settle());
    settled?;
    report("bulk put, until durable", plan.pairs, durable);
    report("bulk put, until compaction has settled", plan.pairs, durable + settling);
    println!("{:<58} {:8} MiB, {before} MiB before", "  highest memory", memory_mib().0);
    Ok(())
}

fn stream(plan: &Plan, number: u64) -> Box<dyn EntryStream> {
    let values = Values::new();
    let (start, end) = (plan.pairs * number / STREAMS, plan.pairs * (number + 1) / STREAMS);
    let batches = (start..end).step_by(BATCH_ROWS as usize).map(move |first| {
        let rows = first..end.min(first + BATCH_ROWS);
        let count = (rows.end - rows.start) as usize;
        let mut pairs = Pairs::with_capacity(count, count * 16, count * VALUE_LEN);
        for row in rows {
            pairs.push_parts(&[&key(row)], &[], values.of(row))?;
        }
        Ok(pairs)
    });
    pair_stream(format!("stream {number}"), batches)
}

/// Batches of keys: pairs without values.
fn key_batches(gets: &[u64]) -> Result<Vec<Pairs>> {
    let batch = |rows: &[u64]| {
        let mut pairs = Pairs::with_capacity(rows.len(), rows.len() * 16, 0);
        rows.iter().try_for_each(|row| pairs.push_parts(&[&key(*row)], &[], &[]))?;
        Ok(pairs)
    };
    gets.chunks(BATCH_ROWS as usize).map(batch).collect()
}

fn get(store: &Store, gets: &[u64]) -> Outcome {
    for round in 0..=ROUNDS {
        let keys = key_batches(gets)?;
        let (found, seconds) = timed(|| -> Result<u64> {
            let batches = store.kv().bulk_get_batches(keys, &PairGetOptions::default())?;
            batches.into_iter().try_fold(0, |found, batch| Ok(found + batch?.len() as u64))
        });
        let found = found?;
        assert!(
            found * 100 >= gets.len() as u64 * 90,
            "keys drawn twice come once, all others are found: {found}"
        );
        let name = if round == 0 { "bulk get, first round (cold cache)" } else { "bulk get, warm" };
        report(name, gets.len() as u64, seconds);
    }
    Ok(())
}

fn run_raw(plan: &Plan, gets: &[u64]) -> Outcome {
    let path = plan.root.join("raw");
    let db = raw::open(&path)?;
    let values = Values::new();
    let (put, durable) = timed(|| raw::put(&db, plan.pairs, &values));
    put?;
    let (settled, settling) = timed(|| raw::settle(&db));
    settled?;
    report("raw write batches, until durable", plan.pairs, durable);
    report("raw write batches, until compaction has settled", plan.pairs, durable + settling);
    if plan.wants("get") {
        for round in 0..=ROUNDS {
            let (found, seconds) = timed(|| raw::get(&db, gets));
            assert_eq!(found?, gets.len() as u64);
            let name = if round == 0 {
                "raw batched multi-get, first round"
            } else {
                "raw batched multi-get, warm"
            };
            report(name, gets.len() as u64, seconds);
        }
    }
    drop(db);
    std::fs::remove_dir_all(path)?;
    Ok(())
}
