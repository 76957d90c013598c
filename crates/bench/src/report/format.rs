//! Numbers as people read them: three digits, a unit that fits.

/// `1.23 M`, `350 K`, `12.5`.
pub(crate) fn count(number: f64) -> String {
    scaled(number, &[(1e9, " G"), (1e6, " M"), (1e3, " K"), (1.0, "")])
}

/// `1,234,567`, without a fraction.
pub(crate) fn whole(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let sign = if number < 0.0 && digits != "0" { "-" } else { "" };
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    format!("{sign}{}", groups.collect::<Vec<_>>().join(","))
}

/// `850 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`, of microseconds.
pub(crate) fn micros(micros: f64) -> String {
    scaled(micros, &[(1e6, " s"), (1e3, " ms"), (1.0, " µs"), (1e-3, " ns")])
}

/// Units of bytes, the largest first.
pub(super) const BYTE_UNITS: [(f64, &str); 4] =
    [(1099511627776.0, " TiB"), (1073741824.0, " GiB"), (1048576.0, " MiB"), (1024.0, " KiB")];

/// `1.50 GiB`.
pub(crate) fn bytes(bytes: f64) -> String {
    scaled(bytes, &[&BYTE_UNITS[..], &[(1.0, " B")]].concat())
}

/// `820 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`.
pub(crate) fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..120 => micros(seconds * 1e6),
        120..7200 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// `1 thread`, `4 threads`.
pub(crate) fn threads(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// `1.08×`.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}×")
}

/// `±2.1 %`, of a share.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// In the largest unit that leaves at least one digit before the point, else in the smallest.
fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    if number == 0.0 || !number.is_finite() {
        let unit = units.iter().find(|(size, _)| *size == 1.0).map_or("", |(_, unit)| unit);
        return format!("{}{unit}", if number == 0.0 { "0" } else { "–" });
    }
    let fits = |size: f64| (number.abs() / size * 1000.0).round() >= 1000.0;
    let (size, unit) =
        units.iter().copied().find(|&(size, _)| fits(size)).unwrap_or(units[units.len() - 1]);
    format!("{}{unit}", three_digits(number / size))
}

fn three_digits(number: f64) -> String {
    let digits = match number.abs() {
        size if size >= 99.95 || size.fract() == 0.0 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_three_digits() {
        let texts = [0.0, 7.0, 12.34, 999.4, 1_234.0, 350_000.0, 1_230_000.0, 2.5e9].map(count);
        assert_eq!(texts, ["0", "7", "12.3", "999", "1.23 K", "350 K", "1.23 M", "2.50 G"]);
    }

    #[test]
    fn whole_numbers_have_thousands_separators() {
        let texts = [0.0, 999.0, 1_000.0, 1_234_567.4, -1_500.0].map(whole);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567", "-1,500"]);
    }

    #[test]
    fn times_and_bytes_take_the_unit_that_fits() {
        let times = [0.85, 12.34, 4_560.0, 1_200_000.0].map(micros);
        assert_eq!(times, ["850 ns", "12.3 µs", "4.56 ms", "1.20 s"]);
        assert_eq!([512.0, 1_536.0, 3_221_225_472.0].map(bytes), ["512 B", "1.50 KiB", "3 GiB"]);
        let times = [0.82, 75.0, 245.0, 7_380.0].map(seconds);
        assert_eq!(times, ["820 ms", "75 s", "4 min 05 s", "2 h 03 min"]);
    }

    #[test]
    fn what_is_no_number_is_a_dash() {
        assert_eq!(count(f64::NAN), "–");
    }
}
