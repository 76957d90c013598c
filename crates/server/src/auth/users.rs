//! The file of users.
//!
//! ```toml
//! [[user]]
//! name = "ann"
//! password = "$argon2id$..."        # tonnage hash-password
//! tokens = ["9f86d0..."]            # SHA-256 of a token, hexadecimal
//! certificates = ["ab12..."]        # SHA-256 of a client certificate (DER), hexadecimal
//! roles = ["reader"]
//! grants = [{ table = "ships", allow = ["insert"] }, { pairs = "fleet/", allow = ["read"] }]
//! ```

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tonnage::{Error, Result};

use super::digest::sha256;
use super::password::is_hash;
use super::rights::{Grant, Right, Rights, Role};

/// A user.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(super) password: Option<String>,
    /// Digests of the tokens and certificates.
    keys: BTreeSet<String>,
    pub(crate) rights: Rights,
}

impl User {
    /// Whether all that this user could log in with before is still good.
    pub(super) fn keeps_credentials_of(&self, before: &User) -> bool {
        self.password == before.password && before.keys.is_subset(&self.keys)
    }
}

/// All users.
#[derive(Debug, Default)]
pub(crate) struct Users {
    by_name: HashMap<String, Arc<User>>,
    by_token: HashMap<String, Arc<User>>,
    by_certificate: HashMap<String, Arc<User>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsersFile {
    #[serde(default)]
    user: Vec<UserEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserEntry {
    name: String,
    password: Option<String>,
    #[serde(default)]
    tokens: Vec<String>,
    #[serde(default)]
    certificates: Vec<String>,
    #[serde(default)]
    roles: Vec<Role>,
    #[serde(default)]
    grants: Vec<Grant>,
}

impl Users {
    /// Reads the file.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be read, with the user and what is wrong.
    pub(crate) fn read(path: &Path) -> Result<Users> {
        let place = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::invalid(format!("{place}: cannot be read: {error}")))?;
        Users::parse(&text).map_err(|error| error.at(place))
    }

    pub(super) fn parse(text: &str) -> Result<Users> {
        let file: UsersFile =
            toml::from_str(text).map_err(|error| Error::invalid(error.to_string()))?;
        if file.user.is_empty() {
            return Err(Error::invalid("it names no user: write [[user]] with a name"));
        }
        let mut users = Users::default();
        for entry in file.user {
            let name = entry.name.clone();
            users.add(entry).map_err(|error| error.at(format!("user {name}")))?;
        }
        Ok(users)
    }

    fn add(&mut self, entry: UserEntry) -> Result<()> {
        // Basic splits at the first colon: a name with one could never log in.
        if entry.name.is_empty() || entry.name.contains(':') {
            return Err(Error::invalid("a name is not empty and has no colon"));
        }
        if let Some(hash) = &entry.password
            && !is_hash(hash)
        {
            return Err(Error::invalid(
                "the password is not an argon2 hash: `tonnage hash-password` makes one",
            ));
        }
        for grant in &entry.grants {
            if grant.table.is_some() == grant.pairs.is_some() {
                return Err(Error::invalid("a grant names either `table` or `pairs`"));
            }
        }
        let digests =
            |given: Vec<String>| given.iter().map(|text| digest(text)).collect::<Result<Vec<_>>>();
        let (tokens, certificates) = (digests(entry.tokens)?, digests(entry.certificates)?);
        let user = Arc::new(User {
            name: entry.name.clone(),
            password: entry.password,
            keys: tokens.iter().chain(&certificates).cloned().collect(),
            rights: Rights { roles: entry.roles, grants: entry.grants },
        });
        self.by_token.extend(tokens.into_iter().map(|digest| (digest, user.clone())));
        self.by_certificate.extend(certificates.into_iter().map(|digest| (digest, user.clone())));
        // The second user's tokens are in the maps by now: an error refuses the whole file.
        if self.by_name.insert(entry.name, user).is_some() {
            return Err(Error::invalid("the name occurs there twice"));
        }
        Ok(())
    }

    /// All users by their names: how they log in, without digests, and what they may do. With a
    /// table also what each may do there.
    pub(super) fn list_json(&self, table: Option<&str>) -> Json {
        let mut users: Vec<&Arc<User>> = self.by_name.values().collect();
        users.sort_by(|one, other| one.name.cmp(&other.name));
        let count = |known: &HashMap<String, Arc<User>>, user: &Arc<User>| {
            known.values().filter(|other| Arc::ptr_eq(other, user)).count()
        };
        let listed = users.into_iter().map(|user| {
            let mut entry = json!({
                "name": user.name,
                "has_password": user.password.is_some(),
                "tokens": count(&self.by_token, user),
                "certificates": count(&self.by_certificate, user),
                "roles": user.rights.roles_json(),
                "grants": user.rights.grants_json(),
            });
            if let Some(table) = table {
                let on_table = |right: &Right| user.rights.on_table(*right, table);
                let allow: Vec<Right> = Right::ALL.into_iter().filter(on_table).collect();
                entry["allow"] = json!(allow);
            }
            entry
        });
        listed.collect()
    }

    pub(super) fn named(&self, name: &str) -> Option<Arc<User>> {
        self.by_name.get(name).cloned()
    }

    pub(super) fn of_token(&self, token: &str) -> Option<Arc<User>> {
        self.by_token.get(&sha256(token.as_bytes())).cloned()
    }

    pub(super) fn of_certificate(&self, der: &[u8]) -> Option<Arc<User>> {
        self.by_certificate.get(&sha256(der)).cloned()
    }
}

/// A SHA-256 as it is compared.
fn digest(text: &str) -> Result<String> {
    let digest = text.replace(':', "").to_ascii_lowercase();
    match digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(digest),
        false => {
            Err(Error::invalid(format!("`{digest}` is not a SHA-256: give 64 hexadecimal digits")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Users::parse(text).unwrap_err().message().to_owned()
    }

    #[test]
    fn a_user_is_found_by_name_token_and_certificate() {
        let (token, certificate) = (sha256(b"secret"), sha256(b"der"));
        let users = Users::parse(&format!(
            "[[user]]\nname = \"ann\"\ntokens = [\"{token}\"]\ncertificates = [\"{certificate}\"]"
        ))
        .unwrap();
        let found = [users.named("ann"), users.of_token("secret"), users.of_certificate(b"der")];
        assert!(found.iter().all(|user| user.as_ref().is_some_and(|user| user.name == "ann")));
        assert!(users.of_token("other").is_none() && users.named("bob").is_none());
    }

    #[test]
    fn what_is_wrong_is_told_with_the_user() {
        assert!(refusal("").contains("no user"));
        let ann = |rest: &str| refusal(&format!("[[user]]\nname = \"ann\"\n{rest}"));
        assert!(ann("password = \"secret\"").contains("user ann: the password is not an argon2"));
        assert!(ann("tokens = [\"secret\"]").contains("not a SHA-256"));
        assert!(ann("grants = [{ allow = [\"read\"] }]").contains("`table` or `pairs`"));
        assert!(ann("roles = [\"king\"]").contains("king"));
        assert!(ann("[[user]]\nname = \"ann\"").contains("twice"));
    }
}
