"""Korean: what short rules need. Particles and endings are taken off as light syllables."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: 하지 마세요 | 하지 마십시오 | 하지 말 것 | 하지 말고 | 하지 마 | 하지 않 | 지 마세요 | 지 마십시오 | 지 말 것
    | 지 말아 | 지 마 | 지 말 | 금지 | 안 됩니다 | 안 된다 | 안됩니다 | 안 돼 | 않 | 절대 | 절대로 | 결코
double: 잊지 마세요 | 잊지 말 것 | 잊지 마
lift: 하지 않아도 | 않아도 됩니다 | 않아도 된다 | 필요 없 | 필요가 없 | 선택 사항
must: 반드시 | 항상 | 꼭 | 필수 | 해야 합니다 | 해야 한다 | 해야 함 | 하세요 | 하십시오 | 할 것 | 세요 | 십시오
should: 가능하면 | 되도록 | 권장 | 가급적 | 보통
may: 해도 됩니다 | 해도 된다 | 해도 돼 | 가능 | 수 있 | 허용
if: 만약 | 경우 | 다면 | 으면
post_until: 까지 | 때까지
except: 제외 | 빼고 | 외에
without: 없이
post_before: 전에 | 하기 전에 | 기 전에 | 전에는
post_after: 후에 | 한 후 | 뒤에 | 다음에
then: 그다음 | 그 다음
sequence: 먼저 | 우선
all: 모든 | 모두 | 매번 | 전부 | 각
some: 일부 | 가끔 | 대부분
only: 만 | 오직
atmost: 이하 | 이내 | 최대 | 미만
atleast: 이상 | 최소
revoked: 취소 | 철회 | 해제 | 더 이상
hedge: 아마 | 일지도 | 할까요 | 인가요 | 검토 | 불분명 | 논의
past: 했습니다 | 했다 | 되었습니다 | 됐다 | 완료 | 하였다
user: 나 | 내 | 저 | 제 | 사용자
agent: 에이전트
clause: 그리고 | 또는 | 하지만
light: 은 | 는 | 이 | 가 | 을 | 를 | 에 | 의 | 로 | 으로 | 도 | 와 | 과 | 에서 | 제약 | 규칙 | 해 | 하 | 한 | 합니다
    | 것 | 기
"""
)

LEXICON = Lexicon(
    name="korean",
    spaced=False,
    stemmer=None,
    operators=OPERATORS,
    synonyms=classes("수정 변경 편집\n실행 돌리\n커밋 commit\n테스트 test"),
    verbs=frozenset(),
    words=frozenset("설정 파일 수정 배포 백업 테스트 커밋 브랜치 실행 변경 삭제 편집 코드 폴더 확인 승인".split()),
)
