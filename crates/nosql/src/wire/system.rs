//! Requests about the whole store.

use serde_json::json;

use super::call::Call;
use super::ddl::first_word;
use super::definitions::define;
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::namespaces::{carry_out, shown, statement_of};
use super::tables::{described_table, table_json, table_names};
use crate::nson::NsonWriter;

/// What statements begin with.
const STATEMENTS: [&str; 15] = [
    "ALTER", "CREATE", "DECLARE", "DELETE", "DESC", "DESCRIBE", "DROP", "GRANT", "INSERT",
    "REVOKE", "SELECT", "SET", "SHOW", "UPDATE", "UPSERT",
];

/// What was asked for is done.
const COMPLETE: i32 = 0;
/// It is done, too, but clients expect to have to ask.
const WORKING: i32 = 1;

/// The roles of the protocol's own server. Rights here are grants in the file of users.
const ROLES: [&str; 7] =
    ["dbadmin", "public", "readonly", "readwrite", "sysadmin", "writeonly", "writesystable"];

/// Carries out a definition, or says what there is.
pub(super) fn system_request(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let given = call.payload.get(field::STATEMENT);
    // Passwords may stand in such statements, so that clients send bytes.
    let bytes = given.and_then(|given| given.bytes().or(given.text().map(str::as_bytes)));
    let statement = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let statement =
        statement.ok_or_else(|| Failure::protocol("the payload has no statement"))?.trim();
    let word = first_word(statement)?;
    if !STATEMENTS.contains(&word.as_str()) {
        let expected = STATEMENTS.join(", ");
        return Err(Failure::argument(format!(
            "Error: at (1, 0) no statement begins like that: expecting {{{expected}}}"
        )));
    }
    let written: Vec<&str> = statement.split_whitespace().collect();
    let words: Vec<String> = written.iter().map(|word| word.to_ascii_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(of_namespace) = statement_of(&words, &written) {
        carry_out(call, of_namespace)?;
        out.field(field::SYSTEM_STATE).integer(WORKING);
        let operation = call.operation_ids.next();
        out.field(field::OPERATION_ID).string(&operation.to_string());
        out.field(field::STATEMENT).string(statement);
        return Ok(());
    }
    // Spaces separate words: names with spaces are in no such request.
    let result = match (word.as_str(), &words[..]) {
        (_, ["CREATE" | "ALTER" | "DROP", "NAMESPACE" | "USER" | "ROLE", ..])
        | ("GRANT" | "REVOKE", _) => return Err(not_offered(statement)),
        ("CREATE" | "ALTER" | "DROP", _) => {
            define(call, statement)?;
            out.field(field::SYSTEM_STATE).integer(COMPLETE);
            let operation = call.operation_ids.next();
            out.field(field::OPERATION_ID).string(&operation.to_string());
            out.field(field::STATEMENT).string(statement);
            return Ok(());
        }
        (_, ["SHOW", "TABLES"]) => format!("tables\n  {}", table_names(call).join("\n  ")),
        (_, ["SHOW", "AS", "JSON", "TABLES"]) => json!({"tables": table_names(call)}).to_string(),
        (_, ["SHOW", "NAMESPACES"]) => format!("namespaces\n  {}", shown(call)?.join("\n  ")),
        // With spaces around this colon alone, as clients look for it.
        (_, ["SHOW", "AS", "JSON", "NAMESPACES"]) => {
            format!(r#"{{"namespaces" : {}}}"#, json!(shown(call)?))
        }
        (_, ["SHOW", "USERS"]) => format!("users{}", users(call)),
        (_, ["SHOW", "AS", "JSON", "USERS"]) => match call.access.user_name() {
            Some(name) => json!({"users": [{"id": name, "name": name}]}).to_string(),
            None => "{}".to_owned(),
        },
        (_, ["SHOW", "ROLES"]) => format!("roles\n  {}", ROLES.join("\n  ")),
        (_, ["SHOW", "AS", "JSON", "ROLES"]) => {
            let roles: Vec<_> = ROLES.iter().map(|name| json!({ "name": name })).collect();
            json!({ "roles": roles }).to_string()
        }
        (_, ["DESCRIBE" | "DESC", "AS", "JSON", "TABLE", _]) => {
            let name = statement.split_whitespace().last().unwrap_or_default();
            let path = &*call.path_of(name);
            call.access.check_description(path)?;
            table_json(&described_table(call, path)?)
        }
        _ => return Err(not_offered(statement)),
    };
    out.field(field::SYSTEM_STATE).integer(COMPLETE);
    out.field(field::STATEMENT).string(statement);
    out.field(field::SYSTEM_RESULT).string(&result);
    Ok(())
}

/// The user that asks, on a line: of others nothing is shown.
fn users(call: &Call<'_>) -> String {
    let name = call.access.user_name();
    name.map(|name| format!("\n  id={name} name={name}")).unwrap_or_default()
}

/// How a request about the store went: all are done when they are answered.
pub(super) fn system_status(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let given = call.payload.get(field::OPERATION_ID).and_then(|given| given.text());
    let given = given.unwrap_or_default();
    let number: u64 =
        given.parse().map_err(|_| Failure::argument(format!("For input string: \"{given}\"")))?;
    if !call.operation_ids.is_known(number) {
        return Err(Failure::argument(format!("there is no operation {number}")));
    }
    out.field(field::SYSTEM_STATE).integer(COMPLETE);
    out.field(field::OPERATION_ID).string(given);
    if let Some(statement) = call.payload.get(field::STATEMENT).and_then(|given| given.text()) {
        out.field(field::STATEMENT).string(statement);
    }
    Ok(())
}

#[cold]
fn not_offered(statement: &str) -> Failure {
    // The rest may hold a password.
    let shown: Vec<&str> = statement.split_whitespace().take(2).collect();
    let message = format!(
        "{} is not offered: CREATE, ALTER and DROP of tables, indexes and namespaces are, SHOW \
         [AS JSON] TABLES, NAMESPACES, USERS and ROLES, and DESCRIBE AS JSON TABLE; users are in \
         the file of users of the server",
        shown.join(" ")
    );
    Failure::new(FailureCode::OperationNotSupported, message)
}
