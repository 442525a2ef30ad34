"""Portuguese: what short rules need."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: não | nunca | jamais | nenhum | nenhuma | nada | proibido | proibida | é proibido | está proibido | evite
    | evitar | nem | não se deve | não deve | não devem | não pode | não podem
contrast: em vez de | ao invés de | em lugar de | e não
double: não esqueça de | não se esqueça de | não esqueça
lift: não é necessário | não precisa | não é preciso | opcional | não é obrigatório
must: sempre | deve | devem | tem que | têm que | precisa | obrigatório | é obrigatório | certifique-se de
should: deveria | preferir | prefira | de preferência | se possível | normalmente | geralmente
may: pode | podem | permitido | é permitido
if: se | quando | caso
unless: a menos que | a não ser que
until: até | até que
without: sem
except: exceto | salvo | com exceção de | menos
during: durante | enquanto | por enquanto
onlyif: só se | somente se | apenas se | só depois de
because: porque | pois | para que
before: antes de | antes
after: depois de | após | depois
then: então | em seguida | por fim
sequence: primeiro | nessa ordem
all: todo | todos | toda | todas | cada | qualquer
some: alguns | algumas | às vezes | a maioria | muitos
only: só | somente | apenas
atmost: no máximo | máximo | menos de
atleast: pelo menos | no mínimo | mais de
revoked: não mais | cancelada | cancelado | revogada | revogado
hedge: talvez | possivelmente | poderia | não está claro | pergunta
hearsay: segundo | por exemplo
past: foi | foram | havia | tinha | era
user: eu | me | meu | minha | o usuário | usuário | nós | nosso
agent: você | o agente | agente | assistente
clause: e | ou | mas
light: o | a | os | as | um | uma | de | do | da | dos | das | em | no | na | nos | nas | com | por | para | é | são
    | ser | que | regra | regras | favor | por favor | seu | sua | este | esta | use | usar
"""
)

LEXICON = Lexicon(
    name="portuguese",
    spaced=True,
    stemmer="portuguese",
    operators=OPERATORS,
    synonyms=classes(
        "altere alterar modificar modifique mudar editar edite mude\npasta diretório\nexecutar execute rodar rode"
    ),
    verbs=frozenset(
        """use utilize execute rode escreva pergunte mantenha responda mostre crie apague espere faça peça revise
        deixe evite adicione altere modifique mude""".split()
    ),
    words=frozenset(),
)
