"""Chinese words and what English calls them, for rules that were given in one language and kept in the other.

A line is a Chinese word, then English words that say the same in a rule. A word that is not here is not guessed.
"""

from functools import cache

from context_firewall.guard.tokens import word_key

_TABLE = """
测试 test
跑 run execute rerun
提交 commit submit
推送 push
合并 merge
分支 branch
主分支 main
代码 code
源码 source code
文件 file
目录 directory folder
数据库 database
日志 log logging
密钥 key secret credential
密码 password
配置 config
接口 interface endpoint api
函数 function
变量 variable
注释 comment
文档 document documentation
依赖 dependency
版本 version
构建 build compile
部署 deploy deployment release
备份 backup
回复 reply response answer
中文 chinese
英文 english
日文 japanese
语言 language
修改 modify change edit touch alter
删除 delete remove
新建 create add new
展示 show display
看 see review look show view
问 ask consult
写 write
同意 permission approval consent approve agreement
停 stop halt
重试 retry
失败 fail failure
成功 succeed success pass
错误 error
超时 timeout
时间 time
只读 read-only
账号 account
用户 user
生产 production
环境 environment
命令 command
直接 directly direct
连接 connect connection
格式 format
脚本 script
模块 module
其他 other else
地方 place anywhere
分析 analyse analyze
单元 unit
覆盖率 coverage
类型 type
预算 budget
费用 cost
标题 title heading
列表 list
摘要 summary
进度 progress
步骤 step
发布 release publish
上线 release deploy
回滚 rollback revert
网络 network
请求 request
缓存 cache
内存 memory
数量 number count
次数 times number count
大小 size
长度 length
结果 result
输出 output
输入 input
打印 print
全局 global
外部 external
内部 internal
公制 metric
单位 unit
改名 rename
重命名 rename
告诉 tell
名 name
库 library database
包 package
表 table
列 column
行 row line
次 times time
条 item
页 page
图 chart
词 word
拼音 pinyin
确认 confirm confirmation
图片 image picture
任务 task
"""


@cache
def _to_english() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _TABLE.strip().splitlines():
        chinese, *english = line.split()
        found[word_key(chinese, "chinese")] = tuple(dict.fromkeys(word_key(word, "english") for word in english))
    return found


@cache
def _to_chinese() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for chinese, english in _to_english().items():
        for word in english:
            found[word] = (*found.get(word, ()), chinese)
    return found


def translations(key: str, source: str, target: str) -> tuple[str, ...]:
    """The keys, in the target language, of the words that say the same as a word's key; none where none is known."""
    if (source, target) == ("chinese", "english"):
        return _to_english().get(key, ())
    if (source, target) == ("english", "chinese"):
        return _to_chinese().get(key, ())
    return ()
