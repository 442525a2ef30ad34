"""German: what short rules need."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: nicht | nie | niemals | kein | keine | keinen | keinem | keiner | keines | nichts | verboten | untersagt
    | darf nicht | dürfen nicht | auf keinen fall | unter keinen umständen | ist verboten | sind verboten | tabu
    | nie wieder | vermeiden | vermeide | hat nichts zu suchen | haben nichts zu suchen | ausgeschlossen
    | bleibt unverändert | bleiben unverändert | bleibt unangetastet | bleiben unangetastet | frei von
    | kommt nicht in frage | unterbleiben
contrast: statt | anstatt | anstelle von | und nicht | sondern nicht
double: nicht vergessen | vergiss nicht | nicht zu vergessen
lift: nicht nötig | nicht notwendig | muss nicht | müssen nicht | brauchst nicht | optional | nicht erforderlich
    | unnötig | braucht nicht
must: muss | müssen | musst | immer | stets | soll | sollen | unbedingt | zwingend | pflicht | ist zu | sind zu
    | erforderlich
should: sollte | sollten | möglichst | bevorzugt | lieber | am besten | wenn möglich | meist | normalerweise
    | üblicherweise | gern
may: darf | dürfen | kann | können | erlaubt | ist erlaubt | sind erlaubt | ok
if: wenn | falls | sofern | sobald
unless: außer wenn | es sei denn | ausser wenn
until: bis | solange
without: ohne
except: außer | ausser | ausgenommen | abgesehen von | bis auf
during: während | derzeit | vorerst | heute
onlyif: nur wenn | nur nach | nur mit | erst wenn | erst nach
because: weil | da | damit | denn | sonst
before: vor | bevor | ehe
after: nach | nachdem
then: dann | danach | anschließend | zuletzt
sequence: zuerst | erst | in dieser reihenfolge
all: alle | alles | jede | jeden | jeder | jedes | jedem | sämtliche | überall
some: einige | manche | manchmal | teilweise | viele | die meisten | oft
only: nur | ausschließlich | lediglich
atmost: höchstens | maximal | bis zu | weniger als | unter
atleast: mindestens | wenigstens | mehr als | über
revoked: aufgehoben | zurückgenommen | nicht mehr | widerrufen | gilt nicht | hinfällig
hedge: vielleicht | möglicherweise | eventuell | wohl | unklar | ob | frage
hearsay: laut | angeblich | zum beispiel
past: wurde | wurden | war | waren | hatte | hatten | hat | haben
user: ich | mich | mir | mein | meine | meiner | der nutzer | der benutzer | die nutzerin | nutzer | benutzer | wir
    | uns | unser | unsere | des nutzers | nutzers | des benutzers | benutzers | dem nutzer | ihm | seine | seiner
    | er
agent: du | dich | dein | sie | ihr | der agent | agent | assistent
clause: und | oder | aber | sondern
light: der | die | das | den | dem | des | ein | eine | einen | einem | einer | auf | in | im | an | am | zu | zum
    | zur | von | vom | mit | für | durch | ist | sind | werden | wird | sein | bitte | regel | regeln | vorgabe
    | vorgaben | es | grundsätzlich | wunsch | gilt | gelten | wie | soweit | auch | vorher | vorab | jeweils
    | komplett | vollständig | einfach | als | aus | bei | dass | laufen | so
"""
)

LEXICON = Lexicon(
    name="german",
    spaced=True,
    stemmer="german",
    operators=OPERATORS,
    synonyms=classes(
        """
ändern bearbeiten anfassen modifizieren verändern berühren
ordner verzeichnis
ausführen starten
löschen entfernen
hinzufügen einbauen einführen aufnehmen aufgenommen ergänzen
fragen rückfragen
rücksprache absprache
freigabe zustimmung erlaubnis genehmigung einverständnis
schreiben geschrieben
abhängigkeit abhängigkeiten
geben gegeben
"""
    ),
    verbs=frozenset(
        """nutze benutze verwende schreibe frage lass lasse halte achte bleib bleibe führe starte committe pushe
        lösche ändere erstelle teste prüfe zeige antworte warte stoppe gib mach mache nimm lege füge behalte
        formatiere""".split()
    ),
    words=frozenset(),
)
