//! The command line: `iosonde-nfs-mount [-f] HOST:/EXPORT DIRECTORY [-o OPTION,…]`, with the words of nfs(5).

use std::time::Duration;

pub const USAGE: &str = "\
usage: iosonde-nfs-mount [-f] HOST:/EXPORT DIRECTORY [-o OPTION,…]

Mounts an NFSv3 export by FUSE. `umount DIRECTORY` ends it. Options, as in nfs(5):
  sync            every write is on the server's disk before it returns [async]
  soft, timeo=N   give up after N tenths of a second [hard: never]
  actimeo=S, noac how long attributes and names are believed [3]
  rsize=B wsize=B most bytes of one READ or WRITE [the server's, 1 MiB at most]
  port=P          of the NFS service; mountport=P of MOUNT [rpcbind is asked]
  ro, rw, vers=3, proto=tcp, nolock
  fsname=TEXT, subtype=NAME
                  source and type (fuse.NAME) in the mount table, where the
                  server stands for something else [HOST:/EXPORT, nfs]
  -f              stay in the foreground
";

/// The kernel takes no more in one FUSE request.
pub const MOST_BYTES: u32 = 1 << 20;
/// Its type in the mount table is `fuse.nfs`.
const SUBTYPE: &str = "nfs";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// What to mount, where and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub host: String,
    pub export: String,
    pub directory: String,
    pub foreground: bool,
    pub read_only: bool,
    pub sync: bool,
    /// When a request without an answer fails; `None`: never.
    pub give_up: Option<Duration>,
    pub believed: Duration,
    pub read_bytes: u32,
    pub write_bytes: u32,
    pub port: Option<u16>,
    pub mount_port: Option<u16>,
    /// What the mount table says of it: its source, and its type after `fuse.`.
    pub source: String,
    pub subtype: String,
}

impl Options {
    /// From the words of the command line. The error is a sentence.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut places = Vec::new();
        let mut settings = Vec::new();
        let mut foreground = false;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-f" => foreground = true,
                "-o" => settings.push(words.next().ok_or("-o: no options follow")?),
                _ if word.starts_with("-o") => settings.push(word[2..].into()),
                _ if word.starts_with('-') => return Err(format!("{word}: no such option")),
                _ => places.push(word),
            }
        }
        let [source, directory] = <[String; 2]>::try_from(places).map_err(|_| USAGE.to_string())?;
        let (host, export) = source
            .split_once(":/")
            .filter(|(host, _)| !host.is_empty())
            .ok_or_else(|| format!("{source}: not HOST:/EXPORT"))?;
        let mut options = Self {
            host: host.into(),
            export: format!("/{export}"),
            directory,
            foreground,
            read_only: false,
            sync: false,
            give_up: None,
            believed: Duration::from_secs(3),
            read_bytes: MOST_BYTES,
            write_bytes: MOST_BYTES,
            port: None,
            mount_port: None,
            source: source.clone(),
            subtype: SUBTYPE.into(),
        };
        let mut timeout = DEFAULT_TIMEOUT;
        let mut soft = false;
        for setting in settings.iter().flat_map(|all| all.split(',')) {
            match setting.split_once('=').unwrap_or((setting, "")) {
                ("soft", "") => soft = true,
                ("hard", "") => soft = false,
                ("timeo", tenths) => {
                    timeout = Duration::from_millis(100 * number(setting, tenths, u64::MAX / 100)?)
                }
                _ => options.set(setting)?,
            }
        }
        options.give_up = soft.then_some(timeout);
        Ok(options)
    }

    fn set(&mut self, setting: &str) -> Result<(), String> {
        match setting.split_once('=').unwrap_or((setting, "")) {
            ("ro", "") => self.read_only = true,
            ("rw", "") => self.read_only = false,
            ("sync", "") => self.sync = true,
            ("async", "") => self.sync = false,
            ("noac", "") => self.believed = Duration::ZERO,
            ("actimeo", seconds) => self.believed = Duration::from_secs(number(setting, seconds, 86_400)?),
            ("rsize", bytes) => self.read_bytes = transfer_size(setting, bytes)?,
            ("wsize", bytes) => self.write_bytes = transfer_size(setting, bytes)?,
            ("port", port) => self.port = Some(number(setting, port, u16::MAX.into())? as u16),
            ("mountport", port) => self.mount_port = Some(number(setting, port, u16::MAX.into())? as u16),
            ("fsname", text) if !text.is_empty() => self.source = text.into(),
            ("subtype", name) if !name.is_empty() => self.subtype = name.into(),
            ("vers" | "nfsvers", "3") | ("proto", "tcp") | ("tcp" | "nolock" | "", "") => {}
            ("vers" | "nfsvers", _) => return Err(format!("{setting}: only version 3 is spoken")),
            _ => return Err(format!("{setting}: no such option")),
        }
        Ok(())
    }
}

fn number(setting: &str, text: &str, most: u64) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|value| *value <= most)
        .ok_or_else(|| format!("{setting}: not a number from 0 to {most}"))
}

fn transfer_size(setting: &str, text: &str) -> Result<u32, String> {
    let bytes = number(setting, text, MOST_BYTES.into())? as u32;
    if bytes < 4096 || !bytes.is_multiple_of(4096) {
        return Err(format!("{setting}: a multiple of 4096, at most {MOST_BYTES}"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Options, String> {
        Options::parse(text.split(' ').map(String::from))
    }

    #[test]
    fn words_of_nfs_are_understood() {
        let options = parsed("server1:/data /mnt -o sync,soft,timeo=50,rsize=65536,nolock -f").unwrap();
        assert_eq!((options.host.as_str(), options.export.as_str()), ("server1", "/data"));
        assert!(options.sync && options.foreground && !options.read_only);
        assert_eq!(options.give_up, Some(Duration::from_secs(5)));
        assert_eq!((options.read_bytes, options.write_bytes), (65536, MOST_BYTES));
    }

    #[test]
    fn a_hard_mount_never_gives_up() {
        assert_eq!(parsed("h:/ /mnt -o timeo=50").unwrap().give_up, None);
        assert_eq!(parsed("h:/ /mnt -osoft").unwrap().give_up, Some(DEFAULT_TIMEOUT));
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (text, said) in [
            ("h:/ /mnt -o vers=4", "vers=4: only version 3 is spoken"),
            ("h:/ /mnt -o krb5", "krb5: no such option"),
            ("h:/ /mnt -o wsize=5000", "wsize=5000: a multiple of 4096, at most 1048576"),
            ("/data /mnt", "/data: not HOST:/EXPORT"),
            ("h:/ /mnt -o", "-o: no options follow"),
        ] {
            assert_eq!(parsed(text).unwrap_err(), said);
        }
        assert_eq!(parsed("h:/data").unwrap_err(), USAGE);
    }
}
