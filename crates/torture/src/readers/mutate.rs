//! Mutations of a sample.

use crate::random::SeededRandom;

/// The longest case.
const BYTES_MAX: usize = 64 << 10;
/// Bytes that readers treat apart.
const SPECIAL: &[u8] = b"\0\n\r\t \"'\\,;:{}[]().-+/%eE09aZ\x1b\x7f\x80\xbf\xc3\xef\xff";
/// Numbers at the edge of a type.
const NUMBERS: [&str; 14] = [
    "0",
    "-0",
    "-1",
    "00",
    "1e400",
    "-1e-400",
    "2147483648",
    "-9223372036854775808",
    "9223372036854775807",
    "18446744073709551616",
    "0.1234567890123456789",
    "NaN",
    "inf",
    "99999999999999999999999999999999999999999999999999999999999999999999999999999.5",
];

/// A case: one of the samples, changed a few times.
pub(super) fn mutated(samples: &[Vec<u8>], words: &[&str], random: &mut SeededRandom) -> Vec<u8> {
    let mut bytes = random.choose(samples).clone();
    for _ in 0..=random.below(6) {
        change(&mut bytes, samples, words, random);
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, samples: &[Vec<u8>], words: &[&str], random: &mut SeededRandom) {
    let at = random.below(bytes.len() as u64 + 1) as usize;
    let behind = at + random.below((bytes.len() - at).min(24) as u64 + 1) as usize;
    // Changes that do not fit at this place fall through to the last two.
    match random.below(11) {
        0 => bytes.truncate(at),
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 if at < bytes.len() => bytes[at] = *random.choose(SPECIAL),
        3 => bytes.insert(at, *random.choose(SPECIAL)),
        4 => drop(bytes.drain(at..behind)),
        5 => {
            let piece = bytes[at..behind].to_vec();
            let times = 1 << random.below(8);
            bytes.splice(at..at, piece.repeat(times));
        }
        6 => {
            let other = random.choose(samples);
            let from = random.below(other.len() as u64 + 1) as usize;
            let piece = other[from..].iter().copied().take(1 + random.below(64) as usize);
            bytes.splice(at..behind, piece.collect::<Vec<_>>());
        }
        7 => drop(bytes.splice(at..behind, random.choose(&NUMBERS).bytes())),
        8 if at + 4 <= bytes.len() => {
            // Binary formats store lengths so: sizes beyond the file find checks that are missing.
            let number = *random.choose(&[0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 1 << 20]);
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        _ if !words.is_empty() => drop(bytes.splice(at..at, random.choose(words).bytes())),
        _ => bytes.extend(std::iter::repeat_n(*random.choose(SPECIAL), random.below(9) as usize)),
    }
}
