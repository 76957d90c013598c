//! Records as values: each field led by its length.

use tonnage::{Error, Result};

use crate::system::Record;

/// Appends fields to a value.
pub(super) fn encode<'f>(
    mut fields: impl Iterator<Item = &'f [u8]>,
    value: &mut Vec<u8>,
) -> Result<()> {
    fields.try_for_each(|field| {
        let len = u32::try_from(field.len());
        let len = len.map_err(|_| Error::invalid("a field is longer than 4 GiB"))?;
        value.extend_from_slice(&len.to_le_bytes());
        value.extend_from_slice(field);
        Ok(())
    })
}

/// Appends all fields, or those asked for in that order, to `into`.
pub(super) fn decode(value: &[u8], fields: Option<&[usize]>, into: &mut Record) -> Result<()> {
    match fields {
        None => each(value).try_for_each(|field| field.map(|bytes| into.push(bytes))),
        Some(wanted) => wanted.iter().try_for_each(|wanted| {
            let field = each(value)
                .nth(*wanted)
                .ok_or_else(|| Error::invalid(format!("a record has no field {wanted}")))?;
            field.map(|bytes| into.push(bytes))
        }),
    }
}

/// The fields of a value.
fn each(mut value: &[u8]) -> impl Iterator<Item = Result<&[u8]>> {
    std::iter::from_fn(move || {
        let found = (!value.is_empty()).then(|| split(value))?;
        value = found.map_or(&[], |(_, rest)| rest);
        let field = found.map(|(field, _)| field);
        Some(field.ok_or_else(|| Error::corruption("a record is cut short")))
    })
}

fn split(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = value.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_come_back_as_they_went_in(fields: Vec<Vec<u8>>) {
            let (mut value, mut record) = (Vec::new(), Record::default());
            encode(fields.iter().map(Vec::as_slice), &mut value).unwrap();
            decode(&value, None, &mut record).unwrap();
            prop_assert!(record.iter().eq(fields.iter().map(Vec::as_slice)));
        }

        #[test]
        fn any_bytes_are_a_record_or_an_error(value: Vec<u8>) {
            let _ = decode(&value, None, &mut Record::default());
        }
    }

    #[test]
    fn fields_are_given_in_the_order_asked_for() {
        let (mut value, mut record) = (Vec::new(), Record::default());
        encode([&b"a"[..], b"bb", b"ccc"].into_iter(), &mut value).unwrap();
        decode(&value, Some(&[2, 0]), &mut record).unwrap();
        assert!(record.iter().eq([&b"ccc"[..], b"a"]));
    }
}
