"""French: what short rules need."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: ne | n' | pas | jamais | aucun | aucune | rien | interdit | interdite | il est interdit de | est interdit
    | sont interdits | éviter | évite | évitez | ne jamais | ne pas | ne doit pas | ne doivent pas | ne faut pas
    | pas de | il ne faut pas
contrast: au lieu de | plutôt que | et non
double: n'oublie pas de | n'oubliez pas de | ne pas oublier de
lift: pas besoin de | pas nécessaire | inutile de | facultatif | optionnel | n'est pas obligatoire | n'a pas besoin
must: toujours | doit | doivent | dois | il faut | obligatoire | est obligatoire | impérativement | assure-toi de
    | veille à
should: devrait | devraient | préférer | préfère | de préférence | si possible | plutôt | normalement | souvent
may: peut | peuvent | autorisé | est autorisé | permis
if: si | quand | lorsque | en cas de
unless: à moins que | sauf si
until: jusqu'à | tant que
without: sans
except: sauf | excepté | hormis | à l'exception de
during: pendant | durant | pour l'instant
onlyif: seulement si | uniquement si | seulement après
because: parce que | car | afin que
before: avant | avant de | avant que
after: après | une fois
then: puis | ensuite | enfin
sequence: d'abord | dans cet ordre
all: tout | tous | toute | toutes | chaque | n'importe quel
some: certains | certaines | quelques | parfois | la plupart
only: seulement | uniquement | exclusivement | seul
atmost: au plus | au maximum | maximum | moins de
atleast: au moins | au minimum | plus de
revoked: ne s'applique plus | annulée | annulé | levée | plus valable
hedge: peut-être | éventuellement | pourrait | pas clair | question
hearsay: selon | d'après | par exemple
past: a été | ont été | était | étaient | avait
user: je | j' | me | moi | mon | ma | mes | l'utilisateur | utilisateur | nous | notre
agent: tu | vous | ton | votre | l'agent | agent
clause: et | ou | mais
light: le | la | les | l' | un | une | des | de | du | d' | en | dans | sur | à | au | aux | avec | par | pour | est
    | sont | être | que | qui | règle | règles | s' | se | ce | cette | il | utilise | utiliser | n'utilise
    | n'utilisez | n'utiliser | totalement | consigne | consignes | absolument | strictement | doivent être
"""
)

LEXICON = Lexicon(
    name="french",
    spaced=True,
    stemmer="french",
    operators=OPERATORS,
    synonyms=classes(
        "modifier modifie changer éditer toucher touche modifiez changez\ndossier répertoire\nexécuter lancer lance"
    ),
    verbs=frozenset(
        """utilise utilisez lance lancez écris écrivez demande demandez garde gardez réponds répondez montre
        montrez crée créez attends attendez fais faites laisse laissez évite évitez ajoute ajoutez touche
        touchez modifie modifiez""".split()
    ),
    words=frozenset(),
)
