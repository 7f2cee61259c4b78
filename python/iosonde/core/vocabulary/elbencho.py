"""elbencho 1.x to 3.x. Its table prints none of its settings; its CSV and JSON have them."""

from .tool import ValueKind, Vocabulary, count, declare_others, flag, path, size, word

ELBENCHO = Vocabulary(
    "elbencho",
    (
        count("threads", "t", "threads", is_read=True),
        size("block_size", "b", "block", is_read=True),
        size("file_size", "s", "size", is_read=True),
        count("io_depth", "iodepth", is_read=True),
        word("hosts", "hosts"),
        count("nodes", "numhosts"),
        count("directories", "n", "dirs"),
        count("files", "N", "files"),
        flag("direct", "direct", is_read=True),
        flag("random", "rand", is_read=True),
        path("path"),
        *declare_others("randamount sharesize", ValueKind.SIZE),
        *declare_others("i/iterations rwmixpct rwmixthr timelimit", ValueKind.COUNT),
        *declare_others(
            "blockvarpct blockvaralgo c/configfile clients clientsfile cores csvfile fadv madv gpuids hostsfile label"
            " limitread limitwrite livecsv liveint log numservers opslog phasedelay port randalgo rankoffset"
            " recvbuf resfile jsonfile respsize rotatehosts sendbuf servers serversfile start svcpwfile svcupint"
            " treefile treeroundup verify zones hdfs latpercent9s"
        ),
        *declare_others(
            "d/mkdirs w/write r/read F/delfiles D/deldirs stat readinline statinline dropcache sync trunc trunctosize"
            " preallocfile verifydirect backward randalign infloop dirsharing dirstats dryrun mmap cufile"
            " cufiledriveropen cuhostbufreg gds gdsbufreg gpuperservice cpu lat lathisto latpercent allelapsed"
            " svcelapsed live1 live1n livecsvex nolive nocsvlabels nodelerr nodetach nodiocheck nofdsharing nopathexp"
            " nosvcshare no0usecerr opsloglock foreground service quit interrupt netbench althttpsvc treerand h/help"
            " help-all help-dist help-large help-multi help-s3 help-bdev version",
            ValueKind.FLAG,
        ),
    ),
)
