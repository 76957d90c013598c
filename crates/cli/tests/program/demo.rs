//! `tonnage demo`: the story of a fleet, and the server that follows it.

use nix::sys::signal::Signal;
use tonnage_testkit::wait_until;

use crate::common::Place;
use crate::served::Served;

#[test]
fn the_demo_tells_its_story_and_closes_with_rates() {
    let run = Place::new().run(&["demo", "--ships", "100", "--positions-per-ship", "100"]).ends(0);
    for text in [
        "10,000 positions",
        "Both agree",
        "The track of ship",
        "pictures",
        "one by one",
        "latest position of each ship",
    ] {
        assert!(run.out.contains(text), "'{text}' is missing in\n{}", run.out);
    }
}

#[test]
fn the_store_of_the_demo_can_stay() {
    let place = Place::new();
    place.run(&["demo", "--ships", "50", "--positions-per-ship", "20", "--dir", "D"]).ends(0);
    assert_eq!(place.run(&["count", "--store", "D", "positions"]).ends(0).out, "1000\n");
    place.run(&["demo", "--dir", "D"]).ends(3).says(&["give a new directory"]);
}

#[test]
fn the_ships_of_the_demo_sail_on_while_it_serves() {
    let place = Place::new();
    let served = Served::demo(&place, &["--ships", "20", "--positions-per-ship", "20"]);
    let page = served.lines.iter().find(|line| line.contains("#/map?table=ships_now"));
    assert!(page.is_some(), "{:?}", served.lines);
    let rows_of = |query: &str| {
        let answer = served.request("POST /v1/sql", &format!(r#"{{"sql": "{query}"}}"#));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        // The body is one chunk: its length comes before it, and that of the end after it.
        let (start, end) = (body.find('{').unwrap(), body.rfind('}').unwrap());
        let body: serde_json::Value = serde_json::from_str(&body[start..=end]).unwrap();
        body["rows"].as_array().unwrap().clone()
    };
    let places = || rows_of("SELECT ship, lat, lon FROM ships_now ORDER BY ship");
    let first = places();
    assert_eq!(first.len(), 20);
    // Some of them are moored.
    wait_until("most ships report another place", || {
        let now = places();
        assert_eq!(now.len(), 20);
        assert!(first.iter().zip(&now).all(|(first, now)| first[0] == now[0]));
        first.iter().zip(&now).filter(|(first, now)| first != now).count() > 10
    });
    // The history has what they reported as well, after the 20 positions of the story.
    let tracks = "SELECT ship FROM positions GROUP BY ship HAVING count(*) > 21";
    wait_until("the tracks grow", || rows_of(tracks).len() == 20);
    served.signal(Signal::SIGTERM);
    let (code, said) = served.ended();
    assert_eq!(code, Some(0), "{said}");
}
