//! The OpenAPI 3.1 description of the routes. When you change a route, change `openapi.json` too:
//! `make acceptance` compares the two.

use axum::http::header;
use axum::response::{IntoResponse, Response};

const DESCRIPTION: &str = include_str!("openapi.json");

/// Tells the description. It holds nothing of the store, so it needs no login.
pub(super) async fn description() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, DESCRIPTION).into_response()
}

#[cfg(test)]
mod tests {
    use super::DESCRIPTION;

    #[test]
    fn every_reference_leads_somewhere() {
        let api: serde_json::Value = serde_json::from_str(DESCRIPTION).unwrap();
        let mut references = 0;
        let mut open = vec![&api];
        while let Some(node) = open.pop() {
            match node {
                serde_json::Value::Array(items) => open.extend(items),
                serde_json::Value::Object(members) => open.extend(members.values()),
                _ => {}
            }
            if let Some(place) = node.get("$ref").and_then(|place| place.as_str()) {
                let pointer = place.strip_prefix('#').unwrap();
                assert!(api.pointer(pointer).is_some(), "{place}");
                references += 1;
            }
        }
        assert!(references > 100, "{references}");
    }
}
