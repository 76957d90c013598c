//! The name that a mistyped one was meant for.

use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;

/// The name that is most like a word, of those that have at least so much in common with it: of many
/// names some are like any word.
pub(super) fn nearest<'a>(
    word: &str,
    likeness_min: f64,
    names: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    names
        .map(|name| (normalized_levenshtein(&name.to_lowercase(), &word), name))
        .filter(|(likeness, _)| *likeness >= likeness_min)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}
