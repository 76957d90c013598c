//! Reads gzip, of one member or several.
//!
//! Zeros after the last member are ignored: tapes and some programs pad with them. Anything else
//! there is an error after all records. It may be a member whose first bytes are damaged, and then
//! records are missing.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The first byte of every member.
const MAGIC: u8 = 0x1f;

/// The unpacked bytes of all members.
pub(crate) struct GzipMembers<R: BufRead> {
    /// None at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(crate) fn new(packed: R) -> Self {
        Self { member: Some(GzDecoder::new(packed)) }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let bytes = member.read(buffer)?;
            if bytes > 0 || buffer.is_empty() {
                return Ok(bytes);
            }
            let Some(member) = self.member.take() else { break };
            let mut packed = member.into_inner();
            match packed.fill_buf()?.first() {
                None => {}
                Some(&MAGIC) => self.member = Some(GzDecoder::new(packed)),
                Some(_) => pass_over_zeros(&mut packed)?,
            }
        }
        Ok(0)
    }
}

fn pass_over_zeros(packed: &mut impl BufRead) -> io::Result<()> {
    loop {
        let rest = packed.fill_buf()?;
        let bytes = rest.len();
        if bytes == 0 {
            return Ok(());
        }
        if rest.iter().any(|byte| *byte != 0) {
            let message = "something that is not gzip follows the packed data: its last records are stored, but more may be missing";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        packed.consume(bytes);
    }
}
