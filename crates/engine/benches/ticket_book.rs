//! What the book of a space costs a write: to open a ticket, note a key under it and end it.
//!
//! `cargo bench -p tonnage-engine --bench ticket_book -- --keys 2000000 --rounds 5`
//!
//! Keys of 16 bytes after a prefix of 4, spread at random over 1, 100 and 8,000 tracked ranges, in
//! turns of 5,000: what disturbs the machine disturbs all of them. After each turn the ranges are
//! tracked anew in one of two ways, as far as the time of the writer is concerned: never within a
//! round (no reader), or their changes are asked for after each turn (a reader a second beside
//! 5,000 writes). The result is nanoseconds a key, and times one range. Medians of rounds.

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tonnage_engine::TicketBook;

const RANGES: [u64; 3] = [1, 100, 8_000];
const TURN: u64 = 5_000;
/// Changes that a range keeps.
const CHANGES_MAX: usize = 65_536;

/// A book, and what its writers and readers took in each round.
struct Case {
    ranges: u64,
    is_read: bool,
    book: TicketBook,
    writing: Vec<Duration>,
    reading: Vec<Duration>,
}

impl Case {
    fn new(ranges: u64, is_read: bool) -> Self {
        let book = TicketBook::new(CHANGES_MAX);
        Self { ranges, is_read, book, writing: Vec::new(), reading: Vec::new() }
    }

    fn start(&self, number: u64) -> Vec<u8> {
        match number % self.ranges {
            0 => Vec::new(),
            number => {
                [&[0, 0, 0, 9], &(u64::MAX / self.ranges * number).to_be_bytes()[..]].concat()
            }
        }
    }

    /// Has all ranges copied anew.
    fn begin_round(&mut self) {
        self.book = TicketBook::new(CHANGES_MAX);
        for number in 0..self.ranges {
            let (start, end) = (self.start(number), self.start(number + 1));
            assert!(self.book.track(&start, &end, u128::from(number), 0));
        }
        self.writing.push(Duration::ZERO);
        self.reading.push(Duration::ZERO);
    }

    fn turn(&mut self, first: u64) {
        let keys: Vec<_> = (first..first + TURN).map(key).collect();
        let began = Instant::now();
        for key in &keys {
            let ticket = self.book.begin();
            self.book.note_key(ticket, key);
            self.book.end(ticket);
        }
        let between = Instant::now();
        if self.is_read {
            for number in 0..self.ranges {
                let start = self.start(number);
                let (since, noted) = (first, self.book.noted());
                black_box(self.book.changes(&start, u128::from(number), since, noted));
            }
        }
        let (writing, reading) = (between - began, between.elapsed());
        self.writing.last_mut().into_iter().for_each(|time| *time += writing);
        self.reading.last_mut().into_iter().for_each(|time| *time += reading);
    }
}

/// Spread evenly over all keys (the multiplier of splitmix64).
fn key(number: u64) -> [u8; 20] {
    let mut key = [0; 20];
    key[3] = 9;
    let spread = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key[4..12].copy_from_slice(&spread.to_be_bytes());
    key
}

fn median(times: &[Duration], keys: u64) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64 / keys as f64
}

fn main() {
    let (mut keys, mut rounds) = (1_000_000_u64, 5);
    let arguments: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    for pair in arguments.chunks(2) {
        let number = pair.get(1).and_then(|word| word.parse().ok());
        match (pair[0].as_str(), number) {
            ("--keys", Some(number)) => keys = number,
            ("--rounds", Some(number)) => rounds = number,
            _ => panic!("usage: [--keys NUMBER] [--rounds NUMBER]"),
        }
    }
    let keys = keys.next_multiple_of(TURN).max(TURN);
    let cases = RANGES.iter().flat_map(|ranges| [(*ranges, false), (*ranges, true)]);
    let mut cases: Vec<Case> = cases.map(|(ranges, is_read)| Case::new(ranges, is_read)).collect();
    for _ in 0..rounds.max(1) {
        cases.iter_mut().for_each(Case::begin_round);
        for first in (0..keys).step_by(TURN as usize) {
            cases.iter_mut().for_each(|case| case.turn(first));
        }
    }
    println!("ranges  read  a key, ns  (times 1 range)  to ask for changes, ns a key");
    for case in &cases {
        let one = &cases[usize::from(case.is_read)].writing;
        let time = median(&case.writing, keys);
        println!(
            "{:6}  {:4}  {time:9.1}  ({:.2})            {:.1}",
            case.ranges,
            if case.is_read { "yes" } else { "no" },
            time / median(one, keys),
            median(&case.reading, keys),
        );
    }
}
