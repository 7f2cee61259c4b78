"""Patterns of names, addresses and secrets: their keys, the words before them, their forms."""

import re

from iosonde.core.secret_text import KEYWORD, PRIVATE_KEY_PATTERN, TOKEN_PATTERN

_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s,;&"'\]})]+)"""
_WORD = r"[A-Za-z_][\w.+-]*"
_HOST = r"[A-Za-z][\w.-]*"
_HOST_OPTION = r"--?(?:hosts?|nodelist|machines?|nodes?-?list|clients?|servers?)|-H"

# Under these keys the text of a value (and, in a dict of dicts, of its keys) is such a name.
KEYS = {
    "secret": re.compile(rf"^(?:{KEYWORD}|pass|pw|auth|cookie)$", re.IGNORECASE),
    "host": re.compile(
        r"(?:^|_)(?:host(?:s|name|names)?|host_?list|node|nodename|node_?list|servers?|clients?|fqdn|domain|"
        r"machine_?name|cluster)$",
        re.IGNORECASE,
    ),
    "user": re.compile(
        r"(?:^|_)(?:users?|user_?name|logname|login|owner|account|author|project|group)$", re.IGNORECASE
    ),
    "id": re.compile(
        r"(?:^|_)(?:job|job_?id|guid|machine_?id|boot_?id|serial(?:_?(?:number|no))?|uuid|fsid|wwn|asset_?tag)$",
        re.IGNORECASE,
    ),
    "address": re.compile(r"(?:^|_)(?:addr|address|addresses|ip|mac|hwaddr)$", re.IGNORECASE),
}

# `-p` is an ordinary option of these tools, and a password in others.
_NO_PASSWORD = (
    r"(?:mkdir|install|cp|mv|touch|tar|srun|sbatch|salloc|sinfo|squeue|ssh|nc|ps|netstat|ss|tcpdump|iperf3?|ip|perf|"
    r"docker|podman|python[\d.]*|fio|ior|mdtest|iozone|elbencho|mpirun|mpiexec|lfs|setstripe|test|read|declare|type|"
    r"unshare|bash|sh|make|patch|pgrep|kill|lsof|top|strace|rsync|find|git)"
)
_PASSWORD_TOOL = (
    r"(?:mysql\w*|mariadb[\w-]*|mongo\w*|7z[ar]?|sshpass|redis-cli|zip|unzip|rar|smbclient|ldap\w+|ipmitool)"
)
_NO_PASSWORD_IS = (
    r"(?!(?:not|no|now|set|required|needed|missing|wrong|invalid|expired|empty|unknown|stored|hidden|in|on|at|the|a|an|"
    r"too|never|always|only|correct|incorrect|known|given|read|sent|kept|used|here|there|asked|be|ok)\b)"
)
# Numbered words that are not machines, although "on ext4", "at rank3" may occur in a sentence.
NUMBERED_THING = (
    r"(?!(?:rank|task|thread|process|proc|cpu|core|socket|numa|file|dir|step|trial|run|phase|ext|nfsv?|md|sha|crc|raid|"
    r"utf|sd[a-z]|nvme|eth|en[ops]|ib|bond|mlx|hfi|opa|loop|dm|vlan|queue|qd|pass|version|iter|iteration|test|rep|"
    r"repetition|block|level|python|lz|zstd|gzip|o|v|x|t|k|n|np|page|line|column|col|row|group|stripe|experiment|setting|"
    r"index|job|segment|chunk|part|size|read|write|ge|hdr|edr|fdr|ndr|pci|pcie|gen|ddr|slot|port|q|p|s|e|r|w|b)"
    r"[_-]?\d)"
)
_TOP_DOMAIN = (
    r"(?:com|org|net|edu|gov|mil|int|eu|de|uk|ch|fr|nl|it|es|se|dk|fi|be|jp|cn|kr|au|ca|us|br|ru|cz|local|lan|"
    r"localdomain|internal|intern|cluster|hpc)"
)
# Patterns in free text, by kind: the named group is the name.
_FORMS = {
    "secret": (
        rf"(?i)(?<![\w-])--?(?!psecret-\d){KEYWORD}[\s=]+(?!--)(?:bearer\s+|basic\s+)?(?P<name>{_VALUE})",
        rf"(?i)(?<![\w.-]){KEYWORD}[\"']?\s*[=:]\s*(?:bearer\s+|basic\s+)?(?P<name>{_VALUE})",
        rf"(?i)(?<![\w.-])pw[\"']?\s*[=:]\s*(?P<name>{_VALUE})",
        r"(?i)\b(?:bearer|basic)\s+(?P<name>[A-Za-z0-9+/._~=-]{8,})",
        rf"(?i)(?<![\w.-]){KEYWORD}(?:\s+(?:for|of|on|at)\s+\S+)?\s+(?:is|was|to|ist|lautet)\s+"
        rf"{_NO_PASSWORD_IS}(?P<name>{_VALUE})",
        r"://[^\s/@:]*:(?P<name>[^\s/@]+)@",
        r"://[^\s/@:?#]{0,64}:(?P<name>[^\s\"'<>]{1,200})@",
        r"(?<!\S)(?:-u|-U|--user)[\s=]*[^\s:%]+[:%](?P<name>[^\s\"']+)",
        rf"(?<!\S){_PASSWORD_TOOL}\b[^\n|;&]{{0,200}}?\s-[pPaw]\s*(?P<name>{_VALUE})",
        rf"(?<![\w./-])(?!{_NO_PASSWORD}\s)[\w./-]+(?:[ \t]+-(?!p)\S+){{0,8}}[ \t]+-p[ \t]+"
        rf"(?![-/.]|\d+(?:\s|$))(?P<name>{_VALUE})",
        r"(?<!\S)-p(?=[^\s\d]*\d)(?=\d*[A-Za-z])(?P<name>[^\s\"'/=]{4,})(?!\S)",
        rf"(?<![A-Za-z0-9_-])(?P<name>{TOKEN_PATTERN})",
        rf"(?P<name>{PRIVATE_KEY_PATTERN})",
    ),
    "id": (
        r"(?i)(?:\b|_)job[ _-]?(?:id)?[\"']?\s*[=:#]?\s*[\"']?(?P<name>\d{3,20}(?:_\d{1,9})?)(?![\w.]{0,20}[A-Za-z%/])",
        r"(?i)(?:\b|_)job[ _-]?id[\"']?\s*[=:#]?\s*[\"']?(?P<name>\d+)\.[A-Za-z]",
        r"(?i)\bserial(?:[ _-]?(?:number|num|no\.?))?[\"']?\s*[=:]\s*[\"']?(?P<name>[\w-]{4,})",
        r"(?i)\bs/n\s*[=:]?\s*(?P<name>[\w-]{4,})",
        r"(?i)\b(?:machine|boot|system)[ _-]?(?:id|uuid)[\"']?\s*[=:]?\s*[\"']?(?P<name>[0-9a-f-]{8,})",
        r"/by-(?:id|uuid|partuuid)/(?:(?:ata|scsi|nvme|wwn|usb|virtio|dm-uuid)-)?(?P<name>[\w.-]+)",
        r"(?i)\bwwn[\"']?\s*[=:-]\s*(?P<name>[\w:.-]{8,})",
        r"(?i)(?<![\w-])(?P<name>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![\w-])",
    ),
    "user": (
        r"(?i)/(?:home|users|people|staff|scratch|projects?|proj|work|workspace)\d*/"
        r"(?!(?:home|scratch|projects?|work)\d*(?:/|$))(?P<name>[^/\s\"':;,()]+)",
        r"(?<![\w.])~(?P<name>[A-Za-z_][\w.-]*)",
        r"(?<![\w.+-])(?P<name>[A-Za-z_][\w.+-]*)(?:@|%40)[\w.-]+",
        r"(?i)\b\w*(?:user|username|logname|login)=(?P<name>[^\s,;:\"']+)",
        rf"(?i)\b(?:user(?:[ _]?name)?|owner|login|logname|author|account|(?:submitted|started|run) by)"
        rf"[\"']?\s*:\s*[\"']?(?P<name>{_WORD})",
        rf"(?<![\w/])(?:e?[ug]id|groups)=\d+\((?P<name>{_WORD})\)",
        rf"(?<=,)\d+\((?P<name>{_WORD})\)",
        rf"(?<!\S)[-dlbcps][-rwxsStT]{{9}}[+.@]?\s+\d+\s+(?P<name>{_WORD})\s",
        rf"(?<!\S)[-dlbcps][-rwxsStT]{{9}}[+.@]?\s+\d+\s+\S+\s+(?P<name>{_WORD})\s",
        rf"\b(?:Uid|Gid):\s*\(\s*\d+/\s*(?P<name>{_WORD})\)",
        rf"(?m)^(?P<name>{_WORD}):[x*!]*:\d+:\d+:",
        rf"(?<!\S)(?:-u|-U|--user)[\s=]*(?P<name>{_WORD})(?=[:%])",
        rf"\b(?:sudo|squeue|sacct|crontab|ps|mysql\w*|psql|su)\s+(?:-\w+\s+)*?-[uUl]\s*(?P<name>{_WORD})",
        rf"\bchown\s+(?:-\w+\s+)*(?P<name>{_WORD})",
    ),
    "host": (
        rf"(?<![\w.+-])[\w.+-]+(?:@|%40)(?P<name>{_HOST})",
        rf"://(?:[^\s\"'<>]{{0,200}}@)?(?P<name>{_HOST})",
        rf"(?<![\w./:@%-])(?P<name>{_HOST}):/(?!/)",
        rf"(?<![\w:/])//(?P<name>{_HOST})/",
        rf"(?<!\S)(?:{_HOST_OPTION})[\s=]+(?P<name>[^\s-]\S*)",
        r"(?i)\b\w*(?:host|hostname|nodename|nodelist|server)=(?P<name>[^\s;\"']+)",
        rf"(?i)\b(?:hosts?(?:[ _]?name)?|node(?:[ _]?name)?|server|client|fqdn)[\"']?\s*:\s*[\"']?"
        rf"(?P<name>{_HOST})",
        rf"\b(?:Machine\s*:\s*)?Linux\s+(?P<name>{_HOST})\s+\d+\.\d+",
        rf"\bMachine\s*:\s*Linux\s+(?P<name>{_HOST})",
        rf"(?i)\b(?:on|from|at|to|via|of|by|host|node|server|client|machine)\s+"
        rf"(?P<name>{NUMBERED_THING}[a-z](?:[a-z_-]*[a-z_-])?\d{{1,5}}[a-z]?(?:[.-][a-z][\w.-]*)?)(?![\w/]|\.\d)",
        rf"(?i)(?<![\w@/.%-])(?P<name>[a-z][\w-]*(?:\.[\w-]+)*\.{_TOP_DOMAIN})(?![\w-]|\.\w)",
        rf"(?i)\bconnect(?:ion)? to (?:host )?(?P<name>{_HOST})\s+(?:port|closed|refused|timed|failed)",
        rf"(?i)\bserver\s+(?P<name>{_HOST})\s+not responding",
    ),
}
PATTERNS = [(kind, re.compile(form)) for kind, forms in _FORMS.items() for form in forms]
ADDRESSES = re.compile(
    r"(?<![\w:.])(?:"
    r"(?P<ip4>\d{1,3}(?:\.\d{1,3}){3})(?!\w|\.\d)"
    r"|(?<!-)(?:[0-9a-fA-F]{2}-){5}(?:[0-9a-fA-F]{2}-)*[0-9a-fA-F]{2}(?![\w-])"
    r"|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}(?!\w|\.\w)"
    r"|(?:(?:[0-9a-fA-F]{2}:){5,19}[0-9a-fA-F]{2}"
    r"|(?P<ip6>(?:[0-9a-fA-F]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}))(?:%\w+)?"
    r"|0x[0-9a-fA-F]{16})(?![\w:])"
    r")"
)
OPTION_WORD = re.compile(rf"(?i)^--?{KEYWORD}$")
HOST_OPTION_WORD = re.compile(rf"^(?:{_HOST_OPTION})$")
# Words that identify nobody.
HARMLESS = frozenset(
    re.findall(
        r"\S+",
        """localhost local root nobody user users host hosts daemon self unknown default *** none null true false yes no
        on off all n/a sys krb5 http https file mount read write open create close stat mtc iosonde secret password
        linux darwin gnu x86_64 aarch64 sudo wheel staff adm tty disk video plugdev docker scratch home work project
        projects data tmp test tests bench benchmark results ior mdtest fio iozone elbencho the this that it which a an
        not is was per and or for with node nodes server servers client clients machine cluster domain group owner
        login account author name count size used free total max min mean time path dir directory target""",
    )
)
