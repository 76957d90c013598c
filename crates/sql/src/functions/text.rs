//! Functions of text: `hex` and `soundex`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};

use super::scalar::{Arguments, Gives, Scalar, int, text_of};

pub(super) const ALL: [Scalar; 2] = [
    Scalar {
        name: "hex",
        form: "hex(x)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: hex,
    },
    Scalar {
        name: "soundex",
        form: "soundex(text)",
        count: (1, 1),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| {
            let texts = arguments.texts(0)?;
            arguments.map_text(|row| Ok(text_of(&texts, row).map(soundex)))
        },
    },
];

/// Text and bytes byte by byte, whole numbers as such.
fn hex(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    match array.data_type() {
        data_type if data_type.is_integer() => {
            arguments.map_text(|row| Ok(int(array, row)?.map(|number| format!("{number:X}"))))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            let texts = arguments.texts(0)?;
            arguments.map_text(|row| Ok(text_of(&texts, row).map(|text| digits(text.as_bytes()))))
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => {
            let bytes = cast(array, &DataType::Binary)?;
            let bytes = bytes.as_binary::<i32>();
            arguments.map_text(|row| Ok(bytes.is_valid(row).then(|| digits(bytes.value(row)))))
        }
        other => exec_err!("hex takes text, bytes or a whole number, not {other}"),
    }
}

/// How a word sounds in English: its first letter and three digits, as PostgreSQL counts.
fn soundex(text: &str) -> String {
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let code = |letter: char| CODES[(letter as u8 - b'A') as usize] as char;
    let mut letters = text
        .chars()
        .skip_while(|letter| !letter.is_ascii_alphabetic())
        .map(|letter| letter.to_ascii_uppercase());
    let Some(first) = letters.next() else { return String::new() };
    let (mut sounds, mut last) = (String::from(first), Some(code(first)));
    for letter in letters {
        let code = letter.is_ascii_alphabetic().then(|| code(letter));
        if let Some(digit) = code
            && digit != '0'
            && code != last
        {
            sounds.push(digit);
        }
        last = code;
        if sounds.len() == 4 {
            break;
        }
    }
    format!("{sounds:0<4}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_sound_alike_have_one_code() {
        for (word, code) in [
            ("Robert", "R163"),
            ("Rupert", "R163"),
            ("Anne", "A500"),
            ("Margaret", "M626"),
            ("  hello", "H400"),
            ("", ""),
            ("42", ""),
        ] {
            assert_eq!(soundex(word), code, "{word}");
        }
    }
}
