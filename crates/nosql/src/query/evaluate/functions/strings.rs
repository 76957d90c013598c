//! Functions of text. Places count characters, from 0.

use super::arguments::{Arguments, or_null};
use super::pattern::Pattern;
use crate::query::item::{Item, Sequence, item_text};
use crate::wire::{Failure, Outcome};

type Given = Outcome<Sequence>;

pub(super) fn upper(of: &Arguments<'_>) -> Given {
    or_null(of.text(0).map(|text| text.to_uppercase()))
}

pub(super) fn lower(of: &Arguments<'_>) -> Given {
    or_null(of.text(0).map(|text| text.to_lowercase()))
}

/// NULL and nothing add nothing.
pub(super) fn concat(of: &Arguments<'_>) -> Given {
    let items = of.given.iter().flat_map(Sequence::as_slice).filter(|item| !item.is_null());
    let mut is_null = true;
    let text: String = items.inspect(|_| is_null = false).map(item_text).collect();
    or_null((!is_null).then_some(text))
}

pub(super) fn substring(of: &Arguments<'_>) -> Given {
    let (Some(text), Some(from)) = (of.text(0), of.whole(1)) else { return Ok(Sequence::null()) };
    let len = match of.len() {
        3 => match of.whole(2) {
            Some(len) => len,
            None => return Ok(Sequence::null()),
        },
        _ => i64::MAX,
    };
    let (Ok(from), true) = (usize::try_from(from), len > 0) else {
        return or_null((len == 0 && from >= 0).then_some(""));
    };
    let taken: String =
        text.chars().skip(from).take(usize::try_from(len).unwrap_or(usize::MAX)).collect();
    or_null(Some(taken))
}

/// `trim`, `ltrim` and `rtrim`.
pub(super) fn trim(of: &Arguments<'_>) -> Given {
    let is_trim = of.name == "trim";
    let side = match of.name {
        "ltrim" => "leading".to_owned(),
        "rtrim" => "trailing".to_owned(),
        _ if of.len() > 1 => of.text(1).unwrap_or_default().to_ascii_lowercase(),
        _ => "both".to_owned(),
    };
    let sign_at = if is_trim { 2 } else { 1 };
    let sign = if of.len() > sign_at { of.text(sign_at) } else { Some(" ".to_owned()) };
    let (Some(text), Some(sign)) = (of.text(0), sign) else { return Ok(Sequence::null()) };
    // The first character alone counts.
    let sign = sign.chars().next();
    let is_sign = |c: char| Some(c) == sign;
    or_null(match side.as_str() {
        "leading" => Some(text.trim_start_matches(is_sign)),
        "trailing" => Some(text.trim_end_matches(is_sign)),
        "both" => Some(text.trim_matches(is_sign)),
        _ => None,
    })
}

pub(super) fn length(of: &Arguments<'_>) -> Given {
    or_null(of.text(0).map(|text| count_item(text.chars().count())))
}

/// `contains`, `starts_with` and `ends_with`.
pub(super) fn contains(of: &Arguments<'_>) -> Given {
    let texts = of.text(0).zip(of.text(1));
    or_null(texts.map(|(text, part)| match of.name {
        "contains" => text.contains(&part),
        "starts_with" => text.starts_with(&part),
        _ => text.ends_with(&part),
    }))
}

pub(super) fn index_of(of: &Arguments<'_>) -> Given {
    let (Some(text), Some(part)) = (of.text(0), of.text(1)) else { return Ok(Sequence::null()) };
    let from = if of.len() > 2 { of.whole(2) } else { Some(0) };
    let Some(from) = from else { return Ok(Sequence::null()) };
    let from = usize::try_from(from).unwrap_or(0);
    let start = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
    let found = text[start..].find(&part).map(|at| from + text[start..][..at].chars().count());
    Ok(found.map_or(Item::Integer(-1), count_item).into())
}

pub(super) fn replace(of: &Arguments<'_>) -> Given {
    let by = if of.len() > 2 { of.text(2) } else { Some(String::new()) };
    let (Some(text), Some(part), Some(by)) = (of.text(0), of.text(1), by) else {
        return Ok(Sequence::null());
    };
    or_null(Some(if part.is_empty() { text } else { text.replace(&part, &by) }))
}

pub(super) fn reverse(of: &Arguments<'_>) -> Given {
    or_null(of.text(0).map(|text| text.chars().rev().collect::<String>()))
}

/// Whether all of a text is as a pattern says. The null of documents and what is not text is not.
pub(super) fn regex_like(of: &Arguments<'_>) -> Given {
    let pattern_item = of.item(1).and_then(Item::text);
    let Some(pattern) = pattern_item else {
        return match of.sequence(1).first() {
            None | Some(Item::Null) => Ok(Sequence::null()),
            Some(_) => Err(of.fault("The pattern of regex_like is not text")),
        };
    };
    let flags = match of.sequence(2).first() {
        Some(Item::Null) => return Ok(Sequence::null()),
        Some(Item::String(flags)) => flags,
        Some(_) => return Err(of.fault("The flags of regex_like are not text")),
        None => "",
    };
    let pattern = Pattern::parse(pattern, flags).map_err(Failure::argument)?;
    Ok(match of.given.first() {
        None | Some(Sequence::Empty) => false.into(),
        Some(Sequence::One(Item::Null)) => Sequence::null(),
        Some(Sequence::One(Item::String(text))) => pattern.matches(text).into(),
        Some(Sequence::One(item)) if item.is_atomic() => pattern.matches(&item_text(item)).into(),
        _ => false.into(),
    })
}

fn count_item(count: usize) -> Item {
    Item::Integer(i32::try_from(count).unwrap_or(i32::MAX))
}
