//! Which keys of a load are of placed spaces: those are stored first.

use std::collections::BTreeSet;

use tonnage_engine::SpaceId;

use super::range::KeyRange;

/// What a range of keys holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// Entries of placed spaces: stored before all others, whatever is there.
    Placed,
    /// Entries of the other spaces.
    Ordinary,
}

/// Cuts all keys where placed spaces begin and end.
pub(super) fn zones(placed: &BTreeSet<SpaceId>) -> Vec<(Zone, KeyRange)> {
    let mut zones = Vec::new();
    let mut lower: Option<Vec<u8>> = None;
    for space in placed {
        let start = space.0.to_be_bytes().to_vec();
        if lower.as_ref() != Some(&start) {
            zones.push((Zone::Ordinary, KeyRange { lower: lower.take(), upper: Some(start.clone()) }));
        }
        let end = (space.0 + 1).to_be_bytes().to_vec();
        zones.push((Zone::Placed, KeyRange { lower: Some(start), upper: Some(end.clone()) }));
        lower = Some(end);
    }
    zones.push((Zone::Ordinary, KeyRange { lower, upper: None }));
    zones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_cover_all_keys_in_order() {
        let zones = zones(&BTreeSet::from([SpaceId(3), SpaceId(4), SpaceId(7)]));
        let kinds: Vec<_> = zones.iter().map(|(zone, _)| *zone).collect();
        assert_eq!(kinds, [Zone::Ordinary, Zone::Placed, Zone::Placed, Zone::Ordinary, Zone::Placed, Zone::Ordinary]);
        assert!(zones.windows(2).all(|pair| pair[0].1.upper == pair[1].1.lower));
        assert_eq!(zones[0].1, KeyRange { lower: None, upper: Some(vec![0, 0, 0, 3]) });
        assert_eq!(zones[5].1, KeyRange { lower: Some(vec![0, 0, 0, 8]), upper: None });
    }

    #[test]
    fn a_load_without_placed_spaces_is_one_zone() {
        assert_eq!(zones(&BTreeSet::new()), [(Zone::Ordinary, KeyRange::default())]);
    }
}
