"""Spanish: what short rules need."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: no | nunca | jamás | ningún | ninguna | ninguno | nada | prohibido | prohibida | está prohibido
    | queda prohibido | evita | evitar | tampoco | no se debe | no debe | no deben | no se puede | no se pueden
    | no debes | bajo ningún concepto
contrast: en lugar de | en vez de | y no
double: no olvides | no olvidar | no te olvides de
lift: no hace falta | no es necesario | no es obligatorio | opcional | no tienes que | no tiene que | sin necesidad de
must: siempre | debe | deben | debes | hay que | tiene que | tienen que | tienes que | obligatorio | es obligatorio
    | asegúrate de
should: debería | deberían | preferir | prefiere | preferiblemente | si es posible | mejor | normalmente | a menudo
may: puede | pueden | puedes | permitido | está permitido | se permite
if: si | cuando | en caso de
unless: a menos que | salvo que
until: hasta | hasta que
without: sin
except: excepto | salvo | menos | a excepción de
during: durante | mientras | por ahora
onlyif: solo si | sólo si | solo cuando | solo después de
because: porque | ya que | para que
before: antes de | antes de que | antes
after: después de | tras | después
then: luego | entonces | finalmente
sequence: primero | en ese orden
all: todo | todos | toda | todas | cada | cualquier
some: algunos | algunas | algún | a veces | la mayoría | muchos
only: solo | sólo | solamente | únicamente
atmost: como máximo | máximo | a lo sumo | menos de
atleast: al menos | como mínimo | mínimo | más de
revoked: ya no | anulada | anulado | cancelada | cancelado | retirada
hedge: quizás | tal vez | posiblemente | podría | no está claro | pregunta
hearsay: según | por ejemplo
past: fue | fueron | había | ha sido | se hizo | era
user: yo | me | mi | mis | el usuario | usuario | la usuaria | nosotros | nuestro
agent: tú | tu | usted | el agente | agente | asistente
clause: y | o | pero | e | u
light: el | la | los | las | un | una | unos | de | del | en | a | al | con | por | para | se | es | son | ser | lo
    | que | regla | reglas | herramientas | favor | por favor | su | este | esta | directamente en | usa | usar
    | utiliza | como
"""
)

LEXICON = Lexicon(
    name="spanish",
    spaced=True,
    stemmer="spanish",
    operators=OPERATORS,
    synonyms=classes(
        "modificar toques tocar cambiar editar modifica edita cambies modifiques edites alterar\n"
        "carpeta directorio\nejecutar ejecuta correr"
    ),
    verbs=frozenset(
        """usa utiliza ejecuta escribe pregunta mantén responde muestra crea borra elimina espera haz pide revisa
        guarda deja evita añade corre prueba hagas hagáis toques uses modifiques cambies borres""".split()
    ),
    words=frozenset(),
)
