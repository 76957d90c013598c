//! Values as text and back, and from one type to another.

use arrow::datatypes::i256;
use proptest::prelude::*;

use super::Value;
use crate::schema::ColumnType;

const NUMBER_76: ColumnType = ColumnType::Number { precision: 76, scale: 20 };

fn number(unscaled: i128, scale: i8) -> Value {
    Value::Number { unscaled, scale }
}

/// A number of any digits at a scale.
fn wide(digits: &str, scale: i8) -> Value {
    Value::number(i256::from_string(digits).unwrap(), scale)
}

fn at(value: i64, precision: u8) -> Value {
    Value::Timestamp { value, precision }
}

#[test]
fn values_show_as_people_write_them() {
    for (value, text) in [
        (Value::Null, "NULL"),
        (Value::Boolean(true), "true"),
        (Value::Long(-5), "-5"),
        (Value::Double(0.1), "0.1"),
        (number(-1_250_000, 6), "-1.25"),
        (number(5, 3), "0.005"),
        (number(7_000, 3), "7"),
        (at(1_641_189_600, 0), "2022-01-03T06:00:00"),
        (at(1_641_189_600_005, 3), "2022-01-03T06:00:00.005"),
        (at(-1, 9), "1969-12-31T23:59:59.999999999"),
        (Value::Uuid(*b"0123456789abcdef"), "30313233-3435-3637-3839-616263646566"),
        (Value::Binary(vec![0, 1, 2, 3]), "AAECAw=="),
        (Value::Json("[1]".into()), "[1]"),
    ] {
        assert_eq!(value.to_string(), text);
    }
}

#[test]
fn text_is_read_as_each_type() {
    let decimal = ColumnType::Number { precision: 5, scale: 2 };
    for (text, column_type, value) in [
        (" 42 ", ColumnType::Integer, Value::Integer(42)),
        ("-9223372036854775808", ColumnType::Long, Value::Long(i64::MIN)),
        ("1e40", ColumnType::Double, Value::Double(1e40)),
        ("inf", ColumnType::Float, Value::Float(f32::INFINITY)),
        ("12.345", decimal, number(1_235, 2)),
        ("-12.345", decimal, number(-1_235, 2)),
        ("1.2e2", decimal, number(12_000, 2)),
        (".5", decimal, number(50, 2)),
        ("0.000000000000000000000000000000000000000000000000000001", decimal, number(0, 2)),
        ("1.00000000000000000000000000000000000000000000000000000009", decimal, number(100, 2)),
        (&format!("0.{}1234e70", "0".repeat(70)), decimal, number(12, 2)),
        (&format!("12345{}e-60", "0".repeat(58)), decimal, number(12_345, 2)),
        ("-0.005", decimal, number(-1, 2)),
        (
            "0.00499999999999999999999999999999999999999999999999999999999999999",
            decimal,
            number(0, 2),
        ),
        ("T", ColumnType::Boolean, Value::Boolean(true)),
        ("0x00fF", ColumnType::Binary, Value::Binary(vec![0, 255])),
        (r"\x00fF", ColumnType::Binary, Value::Binary(vec![0, 255])),
        // Base64 that begins with 0x by chance.
        ("0xA=", ColumnType::Binary, Value::Binary(vec![0xd3, 0x10])),
        ("2022-01-03", ColumnType::Timestamp(3), at(1_641_168_000_000, 3)),
        ("2022-01-03T06:00Z", ColumnType::Timestamp(0), at(1_641_189_600, 0)),
        ("2022-01-03 06:00:00 -01:30", ColumnType::Timestamp(0), at(1_641_195_000, 0)),
        ("1969-12-31T23:59:59.5", ColumnType::Timestamp(1), at(-500, 1)),
        ("2024-02-29", ColumnType::Timestamp(0), at(1_709_164_800, 0)),
        (
            "{303132333435363738396162-63646566}",
            ColumnType::Uuid,
            Value::Uuid(*b"0123456789abcdef"),
        ),
        (" x ", ColumnType::String, " x ".into()),
        ("-7.00", ColumnType::Integer, Value::Integer(-7)),
        ("1.2e3", ColumnType::Long, Value::Long(1_200)),
    ] {
        assert_eq!(Value::parse(text, column_type).unwrap(), value, "{text} as {column_type}");
    }
}

#[test]
fn text_that_is_no_value_is_refused_with_the_reason() {
    let decimal = ColumnType::Number { precision: 5, scale: 2 };
    for (text, column_type, reason) in [
        ("abc", ColumnType::Integer, "'abc' is not an INTEGER: a whole number is needed"),
        ("1.5", ColumnType::Integer, "'1.5' is not an INTEGER"),
        ("15e-1", ColumnType::Long, "'15e-1' is not a LONG: a whole number is needed"),
        ("3e9", ColumnType::Integer, "'3e9' is out of range for INTEGER"),
        (
            "3000000000",
            ColumnType::Integer,
            "'3000000000' is out of range for INTEGER (-2147483648 to 2147483647)",
        ),
        (
            "9999999999999999999999",
            ColumnType::Long,
            "out of range for LONG (-9223372036854775808 to 9223372036854775807)",
        ),
        ("1e40", ColumnType::Float, "out of range for FLOAT"),
        ("1e400", ColumnType::Double, "out of range for DOUBLE"),
        (
            "1000",
            decimal,
            "'1000' is out of range for NUMBER(5, 2): at most 3 digits may stand before the point",
        ),
        (
            "99999999999999999999999999999999999999999999",
            ColumnType::NUMBER,
            "out of range for NUMBER",
        ),
        ("1.2.3", decimal, "is not a NUMBER"),
        ("", decimal, "'' is not a NUMBER"),
        ("e5", decimal, "is not a NUMBER"),
        ("maybe", ColumnType::Boolean, "true or false is needed"),
        ("0x1", ColumnType::Binary, "hexadecimal"),
        ("2022-02-29", ColumnType::Timestamp(0), "'2022-02-29' is not a TIMESTAMP(0)"),
        ("2022-01-03T25:00:00", ColumnType::Timestamp(0), "is not a TIMESTAMP"),
        ("2022-01-03T06:00:00é", ColumnType::Timestamp(0), "is not a TIMESTAMP"),
        ("9999-01-01", ColumnType::Timestamp(9), "too far from 1970"),
        ("00", ColumnType::Uuid, "32 hexadecimal digits"),
        ("[1, 2", ColumnType::Json, "is not JSON"),
    ] {
        let error = Value::parse(text, column_type).unwrap_err();
        assert!(error.message().contains(reason), "{error} should say {reason}");
    }
    let long = Value::parse(&"x".repeat(500), ColumnType::Integer).unwrap_err();
    assert!(long.message().len() < 150, "{long}");
}

#[test]
fn values_are_converted_where_nothing_is_lost_and_refused_where_it_would_be() {
    for (value, column_type, expected) in [
        (Value::Long(7), ColumnType::Integer, Ok(Value::Integer(7))),
        (Value::Double(7.0), ColumnType::Long, Ok(Value::Long(7))),
        (Value::Double(7.5), ColumnType::Long, Err("a whole number is needed")),
        (number(700, 2), ColumnType::Integer, Ok(Value::Integer(7))),
        (number(125, 2), ColumnType::Double, Ok(Value::Double(1.25))),
        (Value::Integer(7), ColumnType::Number { precision: 3, scale: 2 }, Ok(number(700, 2))),
        (
            Value::Integer(70),
            ColumnType::Number { precision: 3, scale: 2 },
            Err("out of range for NUMBER(3, 2)"),
        ),
        (Value::Double(1e300), ColumnType::Float, Err("out of range for FLOAT")),
        (at(-1_500, 3), ColumnType::Timestamp(0), Ok(at(-2, 0))),
        (at(i64::MAX, 0), ColumnType::Timestamp(9), Err("too far from 1970")),
        (Value::Integer(5), ColumnType::String, Ok("5".into())),
        (number(-450, 2), ColumnType::String, Ok("-4.50".into())),
        (number(5, 3), ColumnType::String, Ok("0.005".into())),
        (Value::Binary(vec![7; 16]), ColumnType::Uuid, Ok(Value::Uuid([7; 16]))),
        (
            Value::Binary(vec![7]),
            ColumnType::Uuid,
            Err("a value of type BINARY does not fit a column of type UUID"),
        ),
        (
            Value::Boolean(true),
            ColumnType::Integer,
            Err("a value of type BOOLEAN does not fit a column of type INTEGER"),
        ),
        (
            Value::Long(5),
            ColumnType::Timestamp(3),
            Err("a value of type LONG does not fit a column of type TIMESTAMP(3)"),
        ),
        (Value::Null, ColumnType::Json, Ok(Value::Null)),
    ] {
        match (value.convert_to(column_type), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(reason)) => {
                assert!(error.message().contains(reason), "{error} should say {reason}")
            }
            (found, expected) => {
                panic!("{value:?} as {column_type}: {found:?} should be {expected:?}")
            }
        }
    }
}

/// The digits of numbers that 128 bits do not hold, and of those that they just hold.
#[test]
fn numbers_of_more_than_38_digits() {
    let nines = "9".repeat(76);
    let most = ColumnType::Number { precision: 76, scale: 0 };
    for text in [nines.clone(), format!("-{nines}"), "0".into(), i128::MIN.to_string()] {
        let value = Value::parse(&text, most).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(matches!(value, Value::WideNumber(_)), text.len() > 70, "{text}");
    }
    for text in
        [format!("1{}", "0".repeat(76)), format!("{nines}.5"), "1e76".into(), "1e9999".into()]
    {
        let error = Value::parse(&text, most).unwrap_err();
        assert!(
            error.message().contains("out of range for NUMBER(76, 0): at most 76 digits"),
            "{error}"
        );
    }
    let tiny = ColumnType::Number { precision: 76, scale: 76 };
    assert_eq!(Value::parse("1e-76", tiny).unwrap(), number(1, 76));
    assert_eq!(Value::parse("5e-77", tiny).unwrap(), number(1, 76));
    assert_eq!(Value::parse("4.9e-77", tiny).unwrap(), number(0, 76));
    assert_eq!(
        wide(&format!("-{}", "5".repeat(41)), 40).to_string(),
        format!("-5.{}", "5".repeat(40))
    );
}

#[test]
fn wide_numbers_become_other_types_where_they_fit() {
    let ten_to_40 = wide(&format!("1{}", "0".repeat(40)), 0);
    let same = wide(&format!("1{}", "0".repeat(50)), 10);
    let narrow = ColumnType::Number { precision: 38, scale: 0 };
    assert_eq!(
        wide(&format!("7{}", "0".repeat(40)), 40).convert_to(ColumnType::Long).unwrap(),
        Value::Long(7)
    );
    assert_eq!(wide(&format!("7{}", "0".repeat(40)), 40).convert_to(narrow).unwrap(), number(7, 0));
    assert_eq!(
        wide(&format!("75{}", "0".repeat(40)), 41).convert_to(narrow).unwrap(),
        number(8, 0)
    );
    assert_eq!(ten_to_40.convert_to(ColumnType::Double).unwrap(), Value::Double(1e40));
    assert_eq!(same.convert_to(ColumnType::Number { precision: 60, scale: 0 }).unwrap(), ten_to_40);
    assert_eq!(
        Value::Double(1e40).convert_to(ColumnType::Number { precision: 41, scale: 0 }).unwrap(),
        ten_to_40
    );
    assert_eq!(ten_to_40.convert_to(ColumnType::String).unwrap(), ten_to_40.to_string().into());
    assert_eq!(ten_to_40.to_json(), serde_json::Value::from(ten_to_40.to_string()));
    for (column_type, reason) in [
        (narrow, "out of range for NUMBER(38, 0)"),
        (ColumnType::Long, "out of range for LONG"),
        (ColumnType::Float, "out of range for FLOAT"),
        (ColumnType::Boolean, "a value of type NUMBER does not fit"),
    ] {
        let error = ten_to_40.convert_to(column_type).unwrap_err();
        assert!(error.message().contains(reason), "{error}");
    }
    let error = wide(&"1".repeat(50), 10).convert_to(ColumnType::Long).unwrap_err();
    assert!(error.message().contains("a whole number is needed"), "{error}");
}

#[test]
fn json_holds_numbers_as_numbers_and_the_rest_as_text() {
    let json = |value: Value| value.to_json().to_string();
    assert_eq!(json(Value::Float(0.1)), "0.1");
    assert_eq!(json(Value::Long(i64::MAX)), "9223372036854775807");
    assert_eq!(json(Value::Double(f64::NAN)), "\"NaN\"");
    assert_eq!(json(Value::Json("{\"b\": [1], \"a\": 2}".into())), "{\"b\":[1],\"a\":2}");
    assert_eq!(json(number(999_999_999_999_999, 2)), "9999999999999.99");
    // They came as 1.0 and -999999999999999.0.
    assert_eq!(json(number(1, 0)), "1");
    assert_eq!(json(number(-999_999_999_999_999, 0)), "-999999999999999");
    assert_eq!(json(number(100, 2)), "1.0");
    // It came as 1.2345678901234567e+19: the other digits were lost.
    assert_eq!(
        json(number(123_456_789_012_345_678_900_123_456_789, 10)),
        "\"12345678901234567890.0123456789\""
    );
    assert_eq!(json(at(0, 0)), "\"1970-01-01T00:00:00\"");
    assert_eq!(json(Value::Null), "null");
}

/// Three bytes are enough for base64 that looks like hexadecimal digits: `0xAB`.
fn bytes_like_digits() -> impl Strategy<Value = Vec<u8>> {
    use base64::Engine as _;
    let decode = |text: String| base64::prelude::BASE64_STANDARD.decode(text).unwrap();
    prop_oneof![
        "0x[0-9A-Fa-f]{2}([0-9A-Fa-f]{4}){0,3}".prop_map(decode),
        proptest::collection::vec(any::<u8>(), 0..20)
    ]
}

proptest! {
    #[test]
    fn bytes_read_back_as_they_show(bytes in bytes_like_digits()) {
        let value = Value::Binary(bytes);
        prop_assert_eq!(Value::parse(&value.to_string(), ColumnType::Binary).unwrap(), value);
    }

    #[test]
    fn moments_read_back_as_they_show(value in any::<i64>(), precision in 0_u8..=9) {
        // Years of more than six digits are not read.
        let years = value / super::timestamp_units(precision) / 31_556_952;
        prop_assume!(years.abs() < 990_000);
        let value = at(value, precision);
        prop_assert_eq!(Value::parse(&value.to_string(), ColumnType::Timestamp(precision)).unwrap(), value);
    }

    #[test]
    fn numbers_read_back_as_they_show(unscaled in -10_i128.pow(38) + 1..10_i128.pow(38), scale in 0_i8..=38) {
        let value = number(unscaled, scale);
        prop_assert_eq!(Value::parse(&value.to_string(), ColumnType::Number { precision: 38, scale }).unwrap(), value);
    }

    #[test]
    fn wide_numbers_read_back_as_they_show(digits in "-?[1-9][0-9]{0,75}", scale in 0_i8..=76) {
        let value = wide(&digits, scale);
        let column_type = ColumnType::Number { precision: 76, scale };
        prop_assert_eq!(&Value::parse(&value.to_string(), column_type).unwrap(), &value);
        prop_assert_eq!(&serde_json::from_str::<Value>(&serde_json::to_string(&value).unwrap()).unwrap(), &value);
        prop_assert_eq!(&value.convert_to(column_type).unwrap(), &value);
    }

    /// What a wide column holds of a number is what a narrow one holds, as long as it is narrow.
    #[test]
    fn wide_numbers_round_as_narrow_ones_do(unscaled in -10_i128.pow(30)..10_i128.pow(30), from in 0_i8..=30, scale in 0_i8..=8) {
        let narrow = ColumnType::Number { precision: 38, scale };
        let wide = ColumnType::Number { precision: 76, scale };
        let value = number(unscaled, from);
        prop_assert_eq!(value.convert_to(wide).unwrap(), value.convert_to(narrow).unwrap());
        prop_assert_eq!(Value::parse(&value.to_string(), wide).unwrap(), Value::parse(&value.to_string(), narrow).unwrap());
    }

    #[test]
    fn numbers_compare_by_what_they_are(one in "-?[0-9]{1,60}", other in "-?[0-9]{1,60}", scales in (0_i8..=40, 0_i8..=40)) {
        let (left, right) = (wide(&one, scales.0), wide(&other, scales.1));
        // At the scale of both each is a whole number of at most 100 digits, which compare as text.
        let spelled = |digits: &str, zeros: i8| {
            let magnitude = digits.trim_start_matches(['-', '0']);
            let padded = format!("{:0>100}", format!("{magnitude}{}", "0".repeat(zeros as usize)));
            (digits.starts_with('-') && !magnitude.is_empty(), padded)
        };
        let (one, other) = (spelled(&one, 40 - scales.0), spelled(&other, 40 - scales.1));
        let expected = match (one.0, other.0) {
            (false, false) => one.1.cmp(&other.1),
            (true, true) => other.1.cmp(&one.1),
            (one, other) => other.cmp(&one),
        };
        prop_assert_eq!(left.compare_exactly(&right), Some(expected));
        prop_assert_eq!(Value::String(left.to_string()).compare_exactly(&right), Some(expected));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-+0-9eE.:TZ ,xé{}]{0,40}", precision in 0_u8..=9) {
        for column_type in [ColumnType::NUMBER, NUMBER_76, ColumnType::Timestamp(precision), ColumnType::Uuid, ColumnType::Binary, ColumnType::Double, ColumnType::Long] {
            let _ = Value::parse(&text, column_type);
        }
    }
}

/// Digits after the ninth were cut off. A TIMESTAMP refuses them.
#[test]
fn a_time_of_day_keeps_all_its_digits_or_is_refused() {
    let read = |text: &str| Value::parse(text, ColumnType::Time);
    assert_eq!(read("12:34:56.1234567890").unwrap(), Value::Time(45_296_123_456_789));
    for text in ["12:34:56.1234567899", "12:34:56,12345678901"] {
        assert!(read(text).unwrap_err().message().contains("finer fraction"), "{text}");
    }
}
