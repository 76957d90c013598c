//! AWS profiles: keys and regions in two files of the home directory.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use tonnage_engine::{Error, Result};

/// What a profile says. Without files it says nothing.
#[derive(Default)]
pub(super) struct AwsProfile {
    pub(super) keys: Option<AwsKeys>,
    pub(super) region: Option<String>,
    pub(super) endpoint: Option<String>,
}

/// The credentials of a profile.
pub(super) struct AwsKeys {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) session_token: Option<String>,
}

/// The lines below the title of a section.
type ProfileSection = HashMap<String, String>;

impl AwsProfile {
    /// The profile that `AWS_PROFILE` names, or the one that is called `default`.
    pub(super) fn load(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let chosen = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let name = chosen.as_deref().unwrap_or("default");
        let (mut found, mut searched) = (Vec::new(), Vec::new());
        for (path, file) in [
            ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
            ("AWS_CONFIG_FILE", ".aws/config"),
        ] {
            let in_home = || Some(PathBuf::from(variable("HOME")?).join(file));
            let Some(path) = variable(path).map(PathBuf::from).or_else(in_home) else { continue };
            searched.push(path.display().to_string());
            match std::fs::read_to_string(&path) {
                Ok(text) => found.extend(section(&text, name)),
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    let what = format!("{} cannot be read: {error}", path.display());
                    return Err(Error::invalid(what).with_source(error));
                }
            }
        }
        let files = searched.join(" nor ");
        if chosen.is_some() && found.is_empty() {
            return Err(Error::invalid(format!(
                "AWS_PROFILE names the profile {name}, which is in neither {files}"
            )));
        }
        // The credentials come first, and from one place.
        let keys = found.iter().find_map(|section| {
            Some(AwsKeys {
                id: section.get("aws_access_key_id")?.clone(),
                secret: section.get("aws_secret_access_key")?.clone(),
                session_token: section.get("aws_session_token").cloned(),
            })
        });
        let has_keys = keys.is_some() || variable("AWS_ACCESS_KEY_ID").is_some();
        if chosen.is_some() && !has_keys {
            return Err(Error::invalid(format!(
                "the profile {name} has no access keys. Single sign-on and roles are not followed: let 'aws configure export-credentials --profile {name} --format env' make keys of them"
            )));
        }
        // The settings come last.
        let setting =
            |name: &str| found.iter().rev().find_map(|section| section.get(name)).cloned();
        Ok(Self { keys, region: setting("region"), endpoint: setting("endpoint_url") })
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The section of a profile: `[name]`, or `[profile name]` as the file of settings writes it.
fn section(text: &str, name: &str) -> Option<ProfileSection> {
    let (mut found, mut is_inside) = (None, false);
    for line in text.lines() {
        // What is indented belongs to the setting above it.
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some(title) =
            line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        {
            let title = title.trim();
            let profile =
                title.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t']));
            is_inside = profile.map_or(title, str::trim) == name;
            if is_inside {
                found.get_or_insert_with(ProfileSection::new);
            }
        } else if let (true, Some((key, value))) = (is_inside, line.split_once('=')) {
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if !value.is_empty() {
                found.get_or_insert_with(ProfileSection::new).insert(key, value.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "# mine\n[default]\naws_access_key_id = d\naws_secret_access_key = ds\n\n[ work ]\naws_access_key_id=w\naws_secret_access_key=w=s/+=\naws_session_token = t\n";
    const CONFIG: &str = "[default]\nregion = us-west-2\n[profile work]\nregion = eu-west-1\ns3 =\n  region = not-this\nendpoint_url = http://localhost:9000\n[profile sso]\nsso_session = x\n";

    fn chosen(profile: Option<&str>, more: &[(&str, &str)]) -> Result<AwsProfile> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (credentials, config) = (path("a", CREDENTIALS), path("b", CONFIG));
        AwsProfile::load(&|wanted| match wanted {
            "AWS_SHARED_CREDENTIALS_FILE" => Some(credentials.clone()),
            "AWS_CONFIG_FILE" => Some(config.clone()),
            "AWS_PROFILE" => profile.map(str::to_owned),
            _ => more.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).into()),
        })
    }

    #[test]
    fn a_profile_is_read_from_both_files() {
        let profile = chosen(Some("work"), &[]).unwrap();
        let keys = profile.keys.unwrap();
        assert_eq!((keys.id.as_str(), keys.secret.as_str()), ("w", "w=s/+="));
        assert_eq!(keys.session_token.as_deref(), Some("t"));
        assert_eq!(profile.region.as_deref(), Some("eu-west-1"));
        assert_eq!(profile.endpoint.as_deref(), Some("http://localhost:9000"));
        let profile = chosen(None, &[]).unwrap();
        assert_eq!(profile.keys.unwrap().id, "d");
        assert_eq!(profile.region.as_deref(), Some("us-west-2"));
    }

    #[test]
    fn a_profile_that_gives_no_keys_is_refused_with_the_remedy() {
        let error = chosen(Some("none"), &[]).err().unwrap();
        assert!(error.message().contains("the profile none, which is in neither"), "{error}");
        let error = chosen(Some("sso"), &[]).err().unwrap();
        assert!(error.message().contains("export-credentials --profile sso"), "{error}");
        // Keys of the environment are enough.
        assert!(chosen(Some("sso"), &[("AWS_ACCESS_KEY_ID", "k")]).unwrap().keys.is_none());
    }

    #[test]
    fn without_files_there_is_nothing() {
        let nothing = AwsProfile::load(&|name| (name == "HOME").then(|| "/dev/null".to_owned()));
        let nothing = nothing.unwrap();
        assert!(nothing.keys.is_none() && nothing.region.is_none() && nothing.endpoint.is_none());
        assert!(AwsProfile::load(&|_| None).unwrap().keys.is_none());
    }
}
