"""Japanese: what short rules need. Its verbs carry negation at their end."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: しないでください | しないで下さい | しないで | しないこと | してはいけない | してはいけません | してはならない
    | しては駄目 | しない | ないでください | ないで | ないこと | 禁止 | 厳禁 | 禁じる | 禁じられ | 避け | いけない
    | いけません | ならない | ません | な。 | 決して | 絶対に | 不可 | ずに | ない
double: 忘れないで | 忘れずに | なければならない | なければなりません | なくてはならない | 必ずしなければ
    | ないといけない
lift: なくてもよい | なくてもいい | 必要はない | 必要はありません | 不要 | 任意
must: 必ず | 必須 | 常に | いつも | すべき | べき | ください | 下さい | すること | こと | せよ | してください
    | して下さい
should: できれば | なるべく | 推奨 | 望ましい | 可能なら | 可能であれば | 原則 | 普段
may: てもよい | てもいい | 可能 | できる | できます | 許可 | 構わない | かまわない
if: もし | 場合 | なら | たら | ときは | 際は | とき
until: まで | までは
except: 除いて | 以外 | を除き | 除く
post_before: 前に | 前には | 前は | 前
post_after: 後に | 後は | てから | たら | 後
all: すべて | 全て | 毎回 | 各 | あらゆる | 全部
some: 一部 | 時々 | たまに | ほとんど
only: のみ | だけ | 限定
atmost: 以内 | 以下 | 最大 | 未満 | まで
atleast: 以上 | 少なくとも | 最低
revoked: 取り消し | 撤回 | 解除 | 廃止 | もう不要 | 無効
hedge: かもしれない | たぶん | おそらく | でしょうか | ですか | か？ | 検討 | 不明 | 未定
past: した | しました | 済み | 済 | ました | だった | ていた
user: 私 | ユーザー | ユーザ | 利用者
agent: あなた | エージェント | アシスタント
clause: および | または | と | や | が
light: は | を | に | の | で | へ | も | 制約 | 規則 | ルール | する | してる | より | から | それ | その | この
    | 次 | よう | ように | お願い | し | て
"""
)

LEXICON = Lexicon(
    name="japanese",
    spaced=False,
    stemmer=None,
    operators=OPERATORS,
    synonyms=classes("実行 実施 走らせ\n変更 修正 編集 改変\nコミット commit\nテスト test"),
    verbs=frozenset(),
    words=frozenset(
        """実行 変更 修正 編集 テスト コミット ブランチ ファイル 日本語 コメント 直接 設定 本番
        削除 確認 承認 実施""".split()
    ),
)
