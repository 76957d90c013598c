//! Covers lose no place, and cells are what docs/format.md says.

use proptest::prelude::*;
use rstest::rstest;

use tonnage::geo::{
    Coordinates, EARTH_RADIUS_METRES, LEVEL_MAX, Region, cell_bounds, cell_center, geo_cell,
};

/// A longitude or latitude: anywhere, and often where something ends.
fn coordinate(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -most..=most,
        2 => prop_oneof![Just(most), Just(-most), Just(0.0), Just(-0.0)],
        2 => (-1e-7..=1e-7_f64).prop_map(move |near| (near + most).min(most)),
        1 => (-1e-7..=1e-7_f64).prop_map(move |near| (near - most).max(-most)),
    ]
}

fn coordinates() -> impl Strategy<Value = Coordinates> {
    (coordinate(180.0), coordinate(90.0)).prop_map(|(lon, lat)| [lon, lat])
}

/// A region, with its middle and how far it reaches from there in degrees: places are drawn there.
type Drawn = (Region, Coordinates, f64);

fn boxes() -> impl Strategy<Value = Drawn> {
    (coordinates(), coordinates()).prop_map(|([west, one], [east, other])| {
        let region = Region::rectangle(west, one.min(other), east, one.max(other)).unwrap();
        (region, [west, one], 2.0)
    })
}

fn small_boxes() -> impl Strategy<Value = Drawn> {
    (coordinates(), 0.0..3.0_f64, 0.0..3.0_f64).prop_map(|([lon, lat], wide, high)| {
        let region = Region::between(lon - wide, lat - high, lon + wide, lat + high);
        (region, [lon, lat], wide.max(high))
    })
}

/// From 10 m to half of the globe.
fn circles() -> impl Strategy<Value = Drawn> {
    (coordinates(), 1.0..7.4_f64).prop_map(|(center, power)| {
        let metres = 10_f64.powf(power);
        (Region::circle(center, metres).unwrap(), center, metres / 111_000.0)
    })
}

/// Stars around a place, with a hole or without; some cross themselves.
fn polygons() -> impl Strategy<Value = Drawn> {
    let reaches = proptest::collection::vec(0.05..1.0_f64, 3..20);
    let turns = prop_oneof![Just(1.0), Just(2.0)];
    (coordinates(), 0.001..40.0_f64, reaches, any::<bool>(), turns).prop_map(
        |([lon, lat], size, reaches, has_hole, turns)| {
            let ring = |share: f64| -> Vec<Coordinates> {
                let corner = |(place, reach): (usize, &f64)| {
                    let angle = place as f64 / reaches.len() as f64 * turns * std::f64::consts::TAU;
                    let reach = reach * size * share;
                    [lon + reach * angle.cos(), lat + reach * angle.sin()]
                };
                reaches.iter().enumerate().map(corner).collect()
            };
            let mut rings = vec![ring(1.0)];
            rings.extend(has_hole.then(|| ring(0.4)));
            (Region::polygon(&rings).unwrap(), [lon, lat], size)
        },
    )
}

fn regions() -> impl Strategy<Value = Drawn> {
    let one = || prop_oneof![boxes(), small_boxes(), circles(), polygons()];
    prop_oneof![
        6 => one(),
        1 => (one(), one()).prop_map(|(one, two)| (Region::any([one.0, two.0]), one.1, one.2)),
        1 => (one(), one()).prop_map(|(one, two)| (Region::all([one.0, two.0]), one.1, one.2)),
    ]
}

/// The position of a square on the curve, by the textbook: one bit after another.
fn position_bit_by_bit(mut column: u32, mut row: u32) -> u64 {
    let mut position = 0_u64;
    for level in (0..32).rev() {
        let (right, upper) = (column >> level & 1, row >> level & 1);
        position = position << 2 | u64::from((3 * right) ^ upper);
        if upper == 0 {
            if right == 1 {
                (column, row) = (!column, !row);
            }
            (column, row) = (row, column);
        }
    }
    position
}

fn is_covered(cover: &[(i64, i64)], cell: i64) -> bool {
    let behind = cover.partition_point(|(first, _)| *first <= cell);
    behind > 0 && cell <= cover[behind - 1].1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_cover_holds_every_place_of_its_region(
        (region, [lon, lat], size) in regions(),
        places in proptest::collection::vec(coordinates(), 50),
        near in proptest::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64), 100),
        level in prop_oneof![Just(LEVEL_MAX), 1..=LEVEL_MAX],
        pieces in prop_oneof![Just(Region::PIECES), 1..200_usize],
    ) {
        let cover = region.cover(level, pieces);
        prop_assert!(cover.windows(2).all(|pair| pair[0].1 < pair[1].0 - 1), "{cover:?}");
        let near = near.into_iter().map(|(east, north)| {
            [(lon + east * size).clamp(-180.0, 180.0), (lat + north * size).clamp(-90.0, 90.0)]
        });
        for [lon, lat] in places.into_iter().chain(near) {
            let cell = geo_cell(lon, lat, level).unwrap();
            prop_assert!(!region.contains(lon, lat) || is_covered(&cover, cell), "{lon}, {lat}");
        }
    }

    #[test]
    fn a_cover_holds_every_place_around_its_own_corners(
        center in coordinates(),
        power in 0.0..7.3_f64,
        angles in proptest::collection::vec((0.0..std::f64::consts::TAU, 0.0..1.0_f64), 100),
    ) {
        // Places by way of angle and distance lie in the circle far more often than any do.
        let metres = 10_f64.powf(power);
        let region = Region::circle(center, metres).unwrap();
        let cover = region.cover(LEVEL_MAX, Region::PIECES);
        let (sine, cosine) = center[1].to_radians().sin_cos();
        for (angle, share) in angles {
            let way = metres * share / EARTH_RADIUS_METRES;
            let lat = (sine * way.cos() + cosine * way.sin() * angle.cos()).clamp(-1.0, 1.0).asin();
            let east = (angle.sin() * way.sin() * cosine).atan2(way.cos() - sine * lat.sin());
            let lon = (center[0] + east.to_degrees() + 540.0).rem_euclid(360.0) - 180.0;
            let lat = lat.to_degrees();
            if region.contains(lon, lat) {
                let cell = geo_cell(lon, lat, LEVEL_MAX).unwrap();
                prop_assert!(is_covered(&cover, cell), "{lon}, {lat}");
            }
        }
    }

    #[test]
    fn cells_are_on_the_curve_of_the_textbook(column: u32, row: u32) {
        let lon = (f64::from(column) + 0.5) * 360.0 / 2_f64.powi(32) - 180.0;
        let lat = (f64::from(row) + 0.5) * 180.0 / 2_f64.powi(32) - 90.0;
        let position = geo_cell(lon, lat, LEVEL_MAX).unwrap() as u64 ^ 1 << 63;
        prop_assert_eq!(position, position_bit_by_bit(column, row));
    }

    #[test]
    fn neighbours_on_the_curve_are_neighbours_on_the_earth(cell in i64::MIN..i64::MAX) {
        let [one, next] = [cell, cell + 1].map(|cell| cell_center(cell, LEVEL_MAX).unwrap());
        let squares = |axis: usize, whole: f64| (next[axis] - one[axis]).abs() / whole * 2_f64.powi(32);
        let way = squares(0, 360.0) + squares(1, 180.0);
        prop_assert!((way - 1.0).abs() < 1e-3, "{way}");
    }

    #[test]
    fn a_place_lies_in_its_cell([lon, lat] in coordinates(), level in 1..=LEVEL_MAX) {
        let cell = geo_cell(lon, lat, level).unwrap();
        let [west, south, east, north] = cell_bounds(cell, level).unwrap();
        let (lon_error, lat_error) = (lon.abs() * f64::EPSILON + 1e-13, lat.abs() * f64::EPSILON + 1e-13);
        prop_assert!(west <= lon + lon_error && lon - lon_error <= east);
        prop_assert!(south <= lat + lat_error && lat - lat_error <= north);
        let [lon, lat] = cell_center(cell, level).unwrap();
        prop_assert_eq!(geo_cell(lon, lat, level), Some(cell));
    }

    #[test]
    fn coarse_cells_are_ordered_as_fine_ones(one in coordinates(), two in coordinates(), level in 1..LEVEL_MAX) {
        let cells = |level| [one, two].map(|[lon, lat]| geo_cell(lon, lat, level).unwrap());
        let ([coarse, other], [fine, finer]) = (cells(level), cells(LEVEL_MAX));
        prop_assert!(coarse == other || (coarse < other) == (fine < finer));
    }
}

/// Indexes on disk have these: docs/format.md lists them.
#[rstest]
#[case(0.0, 0.0, 32, 0)]
#[case(-180.0, -90.0, 32, i64::MIN)]
#[case(180.0, -90.0, 32, i64::MAX)]
#[case(-180.0, -90.0, 13, 0)]
#[case(180.0, -90.0, 13, (1 << 26) - 1)]
#[case(0.0, 0.0, 1, 2)]
fn cells_never_change(#[case] lon: f64, #[case] lat: f64, #[case] level: u8, #[case] cell: i64) {
    assert_eq!(geo_cell(lon, lat, level), Some(cell));
}

#[rstest]
#[case(181.0, 91.0)]
#[case(f64::NAN, 0.0)]
#[case(0.0, f64::INFINITY)]
#[case(-180.000_001, 0.0)]
fn what_is_not_on_the_globe_has_no_cell(#[case] lon: f64, #[case] lat: f64) {
    assert_eq!(geo_cell(lon, lat, LEVEL_MAX), None);
}

#[test]
fn a_number_beyond_a_level_is_no_cell_of_it() {
    assert_eq!(cell_bounds(4, 1), None);
    assert_eq!(cell_bounds(-1, 13), None);
    assert_eq!(cell_bounds(0, 0), None);
    assert_eq!(cell_bounds(0, 33), None);
}

#[test]
fn a_box_is_covered_by_little_more_than_itself() {
    let port = Region::rectangle(-95.05, 29.7, -94.95, 29.8).unwrap();
    let cover = port.cover(LEVEL_MAX, Region::PIECES);
    let cells: f64 = cover.iter().map(|(first, last)| (last - first) as f64 + 1.0).sum();
    let wanted = 0.1 / 360.0 * 0.1 / 180.0 * 2_f64.powi(64);
    assert!(cover.len() <= Region::PIECES && cells < 1.25 * wanted, "{} of {wanted}", cells);
}

#[rstest]
#[case(Region::rectangle(0.0, 10.0, 1.0, 5.0), "give south before north")]
#[case(Region::rectangle(52.0, 4.0, 200.0, 5.0), "not on the globe")]
#[case(Region::circle([4.0, 152.0], 1.0), "give the longitude first")]
#[case(Region::circle([4.0, 52.0], -1.0), "a radius of -1 metres")]
#[case(Region::polygon(&[vec![[0.0, 0.0], [1.0, 1.0]]]), "3 corners or more")]
fn a_region_that_is_none_is_refused(#[case] region: tonnage::Result<Region>, #[case] told: &str) {
    let message = region.unwrap_err().to_string();
    assert!(message.contains(told), "{message}");
}

#[test]
fn a_box_across_the_date_line_holds_both_sides() {
    let region = Region::rectangle(170.0, -10.0, -170.0, 10.0).unwrap();
    assert!(
        region.contains(175.0, 0.0) && region.contains(-175.0, 0.0) && !region.contains(0.0, 0.0)
    );
    let edge = Region::rectangle(170.0, -10.0, 180.0, 10.0).unwrap();
    assert!(edge.contains(-180.0, 0.0), "180 and -180 are one place");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_region_comes_back_from_its_json(
        (region, _, _) in regions(),
        places in proptest::collection::vec(coordinates(), 50),
    ) {
        let text = region.to_json().to_string();
        let read = Region::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
        prop_assert_eq!(&read.to_json().to_string(), &text);
        for [lon, lat] in places {
            prop_assert_eq!(read.contains(lon, lat), region.contains(lon, lat), "{} {}", lon, lat);
        }
    }
}

#[rstest]
#[case(r#"{"box": [4, 51, 5, 52]}"#, [4.5, 51.5])]
#[case(r#"{"box": [179, -18, -179, -16]}"#, [-179.5, -17.0])]
#[case(r#"{"circle": [4, 52, 1000]}"#, [4.01, 52.0])]
#[case(r#"{"polygon": [[[0, 0], [4, 0], [0, 4]], [[2, 2], [3, 0], [3, 2]]]}"#, [0.5, 0.5])]
#[case(r#"{"polygon": {"type": "Polygon", "coordinates": [[[0, 0, 5], [4, 0, 5], [0, 4, 5]]]}}"#, [0.5, 0.5])]
#[case(r#"{"polygon": {"type": "MultiPolygon", "coordinates": [[[[9, 9], [9, 8], [8, 8]]], [[[0, 0], [4, 0], [0, 4]]]]}}"#, [0.5, 0.5])]
#[case(r#"{"between": [180, null, null, null]}"#, [181.0, 91.0])]
#[case(r#"{"all": [{"box": [0, 0, 9, 9]}, {"any": [{"circle": [4, 4, 9]}]}]}"#, [4.0, 4.0])]
fn json_describes_regions(#[case] json: &str, #[case] place: Coordinates) {
    let [lon, lat] = place;
    let region = Region::from_json(&serde_json::from_str(json).unwrap()).unwrap();
    assert!(region.contains(lon, lat), "{region:?}");
    assert!(!region.contains(-50.0, 70.0), "{region:?}");
}

#[rstest]
#[case("5", "is not a region")]
#[case(r#"{"box": [4, 51, 5, 52], "circle": [4, 52, 1]}"#, "is not a region")]
#[case(r#"{"box": [4, 51, "5", 52]}"#, "longitude first")]
#[case(r#"{"box": [4, 52, 5, 51]}"#, "south before north")]
#[case(r#"{"circle": [4, 52]}"#, "is not a region")]
#[case(r#"{"circle": [4, 52, -1]}"#, "radius")]
#[case(r#"{"polygon": [[[0, 0], [1, 1]]]}"#, "3 corners")]
#[case(r#"{"polygon": {"type": "Point", "coordinates": [0, 0]}}"#, "is not a region")]
#[case(r#"{"any": {"box": [4, 51, 5, 52]}}"#, "is not a region")]
fn json_that_is_no_region_is_refused(#[case] json: &str, #[case] named: &str) {
    let error = Region::from_json(&serde_json::from_str(json).unwrap()).unwrap_err();
    assert!(error.to_string().contains(named), "{error}");
}

#[test]
fn regions_that_consist_of_others_too_deep_are_refused() {
    let deep = (0..40).fold(
        serde_json::json!({"circle": [4, 52, 1]}),
        |inner, _| serde_json::json!({"any": [inner]}),
    );
    let error = Region::from_json(&deep).unwrap_err();
    assert!(error.to_string().contains("16 deep"), "{error}");
}

/// A circle held 200 degrees east, as the sine of a longitude wraps around, and an index did not
/// find it there.
#[test]
fn a_circle_holds_no_place_that_is_not_on_the_globe() {
    let circle = Region::circle([-160.0, 10.0], 5_000.0).unwrap();
    assert!(circle.contains(-160.0, 10.0));
    for (lon, lat) in [(200.0, 10.0), (20.0, 170.0), (-520.0, 10.0), (f64::NAN, 10.0)] {
        assert!(!circle.contains(lon, lat), "{lon} {lat}");
    }
}
