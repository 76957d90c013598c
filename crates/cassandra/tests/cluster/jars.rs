//! The jars of Cassandra, from Maven.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What Maven copies: Cassandra with all that it needs.
const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>1</version>
<packaging>pom</packaging><dependencies><dependency><groupId>org.apache.cassandra</groupId>
<artifactId>cassandra-all</artifactId><version>5.0.5</version></dependency></dependencies></project>
"#;

/// Written when all jars are there.
const COMPLETE: &str = "complete";

/// The folder with the jars, fetched if they are missing.
///
/// # Errors
/// Why there are none, in words.
pub(super) fn find() -> Result<PathBuf, String> {
    check_java()?;
    let folder = match std::env::var_os("TONNAGE_CASSANDRA_LIB") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = std::env::var_os("HOME").ok_or("HOME is not set")?;
            PathBuf::from(home).join(".cache/tonnage-cassandra")
        }
    };
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if !folder.join(COMPLETE).exists() {
        fetch(&folder)?;
    }
    // Nodes run in folders of their own, from where a relative path would lead elsewhere.
    folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))
}

fn check_java() -> Result<(), String> {
    let answer = Command::new("java").arg("-version").output();
    let answer = answer.map_err(|_| "there is no java: install Java 17")?;
    let words = String::from_utf8_lossy(&answer.stderr).into_owned();
    match words.contains("version \"17.") {
        true => Ok(()),
        false => Err(format!("java is not Java 17: {}", words.lines().next().unwrap_or_default())),
    }
}

fn fetch(folder: &Path) -> Result<(), String> {
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs::write(project.path().join("pom.xml"), POM).map_err(|error| error.to_string())?;
    let answer = Command::new("mvn")
        .args(["-q", "-B", "dependency:copy-dependencies"])
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .current_dir(project.path())
        .output()
        .map_err(|_| "there is no mvn: install Maven")?;
    if !answer.status.success() {
        let words = String::from_utf8_lossy(&answer.stdout).into_owned();
        return Err(format!("Maven cannot fetch Cassandra: {words}"));
    }
    fs::write(folder.join(COMPLETE), "").map_err(|error| error.to_string())
}
