//! The numbers and byte strings of Avro, as they stand in a file.

use std::io::{self, Read};

/// Bytes after their length.
pub(crate) fn read_sized(reader: &mut impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let length = u64::try_from(long(reader)?).ok().filter(|length| *length <= bytes_max);
    let length = length.ok_or_else(|| broken("a length in it is wrong"))?;
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(cut_short()) }
}

pub(crate) fn long(reader: &mut impl Read) -> io::Result<i64> {
    long_or_end(reader)?.ok_or_else(cut_short)
}

/// A number of up to ten bytes, seven bits in each, the sign in the lowest bit; none at the end.
pub(crate) fn long_or_end(reader: &mut impl Read) -> io::Result<Option<i64>> {
    let mut number = 0_u64;
    for place in 0..10 {
        let mut byte = [0];
        let read = loop {
            match reader.read(&mut byte) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        match (read, place) {
            (0, 0) => return Ok(None),
            (0, _) => return Err(cut_short()),
            _ => {}
        }
        number |= u64::from(byte[0] & 0x7f) << (7 * place);
        if byte[0] & 0x80 == 0 {
            return Ok(Some((number >> 1) as i64 ^ -((number & 1) as i64)));
        }
    }
    Err(broken("a number in it is too long"))
}

pub(crate) fn put_long(number: i64, out: &mut Vec<u8>) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_long(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}

pub(crate) fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub(crate) fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file is cut short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for number in [0, -1, 1, 63, -64, 64, 1 << 40, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_long(number, &mut bytes);
            assert_eq!(long_or_end(&mut &bytes[..]).unwrap(), Some(number));
        }
        assert_eq!(long_or_end(&mut &b""[..]).unwrap(), None);
        assert!(long_or_end(&mut &b"\x80"[..]).is_err());
        assert!(long_or_end(&mut &[0xff; 11][..]).is_err());
    }
}
