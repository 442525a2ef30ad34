"""English: negation, duty, permission, conditions, order, extent, status, and the verbs of developers."""

from context_firewall.guard.lexicon import Lexicon, classes, table

OPERATORS = table(
    """
neg: never | never ever | not ever | do not ever | don't ever | do not | don't | dont | does not | doesn't | must not
    | mustn't | must never | should not | shouldn't | should never | shall not | shall never | may not | may never
    | cannot | can not | can't | can never | will not | won't | is not | isn't | are not | aren't | not be | never be
    | am not | to not | not to | no | nothing | none | nobody | neither | nor | not to be | is never to | are never to
    | are not to | is not to | avoid | avoids | avoiding | refrain from | refrains from | stay away from
    | steer clear of | keep away from | keep out of | stay out of | hands off | forbidden | forbid | forbids
    | prohibited | prohibit | prohibits | banned | ban | bans | disallowed | off limits | off-limits | out of bounds
    | not allowed | not permitted | never allowed | never permitted | not acceptable | unacceptable | is not allowed
    | are not allowed | is never allowed | are never allowed | is not permitted | are not permitted
    | is never permitted | are never permitted | must not be | should not be | may not be | shall not be
    | must never be | should never be | cannot be | can't be | can not be | does not want | doesn't want | do not want
    | don't want | never wants | never want | does not allow | doesn't allow | does not like | no longer allowed
    | is forbidden | are forbidden | is prohibited | are prohibited | is banned | are banned | is off limits
    | are off limits | is disallowed | are disallowed | under no circumstances | on no account | in no case
    | at no time | by no means | not under any circumstances | no way | leave alone | never again | opposed to
    | objects to | rejects | refuses | do not let | don't let | never let | ruled out | rules out | free of
    | free from | out of the question | has no place in | have no place in | stays out of | stays away from
    | stays clear of | keeps away from | keeps out of | kept out of | kept away from | stay out | stays out
    | must be without | is without | are without | be without | does without | do without | go without | goes without
    | comes without | come without | gets by without | get by without | not an option | a no-go | is taboo | are taboo
    | vetoed | is ruled out | are ruled out | under no condition | at no point | in no event | not on any account
    | not for any reason | is to be avoided | are to be avoided | be avoided | must be avoided | should be avoided
    | unwanted | not wanted | is not wanted | are not wanted | is unwanted | are unwanted | not welcome
    | not tolerated | is not tolerated | are not tolerated | never acceptable | is not acceptable | are not acceptable
    | is unacceptable | are unacceptable | not to be touched | left alone | be left alone | be left untouched
    | be left unchanged | be left as is | stay untouched | stays untouched | remain untouched | remains untouched
    | stay unchanged | stays unchanged | remain unchanged | remains unchanged | stay as is | stays as is
    | stay as it is | stays as it is | stay as they are | remain as is | remains as it is | remain as they are
    | kept as is | kept as it is | must be left alone | is to be left alone | are to be left alone | forbade
    | has forbidden | have forbidden | has banned | has prohibited | has ruled out | has vetoed | does not permit
    | doesn't permit | does not accept | doesn't accept | won't accept | will not accept | was told not to
    | was told never to | has been told not to | has been told never to | was asked not to | has been asked not to
    | was instructed not to | was instructed never to | is told not to | asked not to | asked the agent not to
    | told the agent not to | told not to | told never to | instructed not to | insists on not
contrast: not | and not | but not | rather than | instead of | as opposed to | in place of | in preference to | over
    | not through | not via | not by | not with | not from | not in | not on
double: do not forget to | don't forget to | never forget to | do not forget | don't forget | never forget
    | must not forget to | should not forget to | do not fail to | never fail to | don't fail to | do not neglect to
    | never neglect to | without fail | no exceptions | not optional | is not optional | are not optional
    | without exception | not negotiable | non-negotiable | don't ever forget to | do not omit to
    | should never forget to | must never forget to | must not fail to | without exceptions
lift: need not | needn't | does not need to | doesn't need to | do not need to | don't need to | not needed
    | does not have to | doesn't have to | do not have to | don't have to | no need to | no need for | no need
    | not required | is not required | are not required | not necessary | is not necessary | are not necessary
    | unnecessary | optional | is optional | are optional | not required to | is not required to | are not required to
    | not obliged to | not mandatory | is not mandatory | isn't required | aren't required | isn't necessary
    | aren't necessary | need not be | does not need to be | do not need to be | does not have to be
    | do not have to be | isn't needed | aren't needed | is not needed | are not needed | no longer need to
    | no longer needs to | no longer have to | no longer has to | no longer required | no longer needed
    | no longer necessary | free not to | not bound to | feel free to skip | may skip | can skip | may be skipped
    | can be skipped | skippable | no confirmation needed | no confirmation is needed | no approval needed
    | no approval is needed
must: must | must be | must always | must always be | always | always be | shall | shall be | have to | has to
    | have to be | has to be | need to be | needs to be | need to | needs to | required to | is required to
    | are required to | is required | are required | mandatory | is mandatory | are mandatory | obligatory
    | compulsory | be sure to | make sure to | make sure that | make sure | ensure that | ensure | ensures
    | make certain | see to it that | is to | are to | is to be | are to be | wants | want | wants to | insists on
    | insists that | insist on | insists | demands | demand | requests that | asked to | asks to | asked that
    | asks that | requires that | strictly | at all times | every time | hard rule | hard requirement
    | it is essential to | got to | gotta | will | will be | expects | expect | told to | instructed to
    | is expected to | are expected to | supposed to | obliged to | bound to | is supposed to | are supposed to
    | it is mandatory to | is obliged to | are obliged to | is a must | are a must | is compulsory
    | are compulsory | is obligatory | are obligatory | it is vital to | it is vital that | it is important to
    | it is important that | it is essential that | it is imperative that | it is imperative to | asked for
    | has asked for | asked the agent to | has asked the agent to | told the agent to | instructed the agent to
    | requested | has requested | has requested that | requested that | insisted on | insisted that
    | has insisted that | has insisted on | demanded | has demanded | demanded that | required that
    | made it a rule to | made it a rule that | was told to | has been told to | was instructed to | was asked to
    | has been asked to | is told to | is asked to
should: i'd rather | should | should be | ought to | prefer | prefers | preferred | preferably | preference
    | preference for | ideally | try to | tries to | try | where possible | if possible | when possible
    | where feasible | as far as possible | would like | would like to | would prefer | i'd like | i'd prefer
    | recommended | is recommended | are recommended | recommends | recommend | advisable | encouraged | is encouraged
    | would be nice | would be good | nice to have | would be nice to | it would be nice to | it would be good to
    | good idea | is a good idea | aim to | aims to | aim for | strive to | better to | best to | it's best to
    | usually | generally | normally | typically | mostly | often | as a rule of thumb | by default | rule of thumb
    | if time allows | time permitting | if time permits | when convenient | where practical | if practical
    | best effort | consider | considers | favour | favor | favours | favors | lean towards | would rather | tend to
    | tends to | sparingly | minimise | minimize | keep to a minimum | optionally
may: may | may be | can | can be | could | could be | allowed | is allowed | are allowed | allowed to | is allowed to
    | are allowed to | permitted | is permitted | are permitted | permitted to | is permitted to | are permitted to
    | free to | is free to | are free to | feel free to | ok to | okay to | is ok | is okay | are ok | is fine
    | are fine | is fine to | it is fine to | it's fine to | ok | okay | acceptable | is acceptable | fine to
    | welcome to | has permission to | have permission to | go ahead and | permits | allows | is at liberty to
    | as needed | at will | when needed | as necessary | authorised to | authorized to
if: if | when | whenever | in case | in case of | in the event of | in the event that | if ever | where | provided
    | provided that | on condition that | assuming | as long as | so long as | whenever the | upon | should the
    | given that | whether | for as long as | when the | if and when | wherever | in the case of | in the case that
    | in the event | on the occasion that | every time that
unless: unless | unless and until | except when | except if | except where
until: until | till | up until | not before | pending
without: without | w/o | absent | lacking | without first | without any | without the
except: except | except for | except in | except on | except under | excepting | apart from | other than | excluding
    | save for | aside from | with the exception of | barring | all but | besides | exception | excepted | exempt
    | outside of | outside | anywhere but | everywhere but | anything but | not counting | not including | bar
    | the only exception is | the only exceptions are | the single exception is | the sole exception is
    | the one exception is | only exception | single exception | sole exception | the only exception
    | the exception being | the only exception being | but for | leaving out | other than in | exempting | exempted
    | is exempt | are exempt | is the exception | are the exception | is excepted | are excepted
    | with the one exception of | with the sole exception of | with the single exception of
    | with the only exception of
during: yet | during | in this session | for this session | this session | during this session
    | for the rest of this session | while | in the course of | throughout | for the duration of | for now
    | for the moment | this week | this sprint | this time | until further notice | today | temporarily
    | for the time being | in the meantime | at the moment | currently | this once | just once | at night | overnight
    | tonight
onlyif: only if | only when | only after | only once | only with | only on | only upon | if and only if | not until
    | only where | only following | only in case | never before | only unless
require: requires | require | needs | need | requiring | necessitates | depends on | contingent on | conditional on
    | subject to | needing
because: because | since | so that | as this | because of | due to | in order to | otherwise | for the reason that
    | owing to | as it | as they | as that | or else | to avoid | to keep | to prevent | to protect | in order not to
    | thanks to | reason
before: before | prior to | ahead of | before any | before each | before every | preceding | in advance of
    | before the | previous to | earlier than | before you | before it
after: after | following | afterwards | as soon as | once | after each | after every | after any | subsequent to
    | on completion of | right after | immediately after | straight after
then: only afterwards | only after that | only thereafter | thereafter | then | and then | finally | second | secondly
    | third | lastly | afterward | after that | only then | followed by
sequence: in this sequence | in that sequence | in exactly this order | in exactly that order | the sequence is fixed
    | the order is fixed | in the given order | in that order | in this order | first | firstly | beforehand
    | to begin with | up front | upfront | to start with | in order | first of all
all: all | every | each | any | everything | anything | everywhere | anywhere | whole | entire | everyone | anyone
    | both | complete | full | whatever | whichever | whatsoever | at all | any of | at any time | any time | anytime
    | whenever you like | whenever you want | throughout | across the board | all over | without restriction
    | any kind of | any sort of | any type of
some: some | most | most of | some of | many | few | a few | several | certain | part of | partly | partially
    | sometimes | occasionally | half | a couple of | selected | at times | from time to time | now and then | major
    | minor | main parts of | where relevant | relevant
only: only | solely | exclusively | nothing but | limited to | restricted to | confined to | is limited to
    | are limited to | is restricted to | are restricted to | and nothing else | nothing else | alone | no other
    | just | merely | strictly limited to | reserved to | reserved for | is reserved to | is reserved for
    | are reserved to | are reserved for | limit yourself to | restrict yourself to | confine yourself to
    | limit itself to | limits itself to | none but | nobody but | no one but
    | nothing other than | purely | and nowhere else | nowhere else | nowhere but | and no other
atmost: at most | no more than | not more than | up to | maximum | maximum of | max | a maximum of | not exceed
    | below | under | less than | fewer than | within | limited | is limited | are limited | limit | limits | cap
    | capped | capped at | cap of | ceiling | upper limit | or fewer | or less | no longer than | not above
    | at the most | limit of | never more than | stay below | stay under | keep under | keep below | tops | or below
    | or under | not over | smaller than | shorter than | no larger than | at the very most | not to exceed
    | may not exceed | must not exceed | cannot exceed | shall not exceed | up to a maximum of | no bigger than
    | no higher than | not longer than | not larger than | not bigger than | not higher than
atleast: at least | no fewer than | no less than | not less than | minimum | minimum of | a minimum of | more than
    | above | or more | or later | and later | or newer | and newer | and above | or above | and up | greater than
    | upwards of | not below | at minimum | larger than | longer than | or higher | or greater | from
    | at the very least | no shorter than | no smaller than | no lower than | not lower than | not shorter than
    | not smaller than | not fewer than
revoked: initially | originally | at first | wrong | incorrect | untrue | not true | mistaken | no longer applies
    | no longer apply | no longer in force | no longer | lifted | lifts | revoked | revokes | cancelled | canceled
    | cancels | rescinded | withdrew | withdrawn | withdraws | dropped | overruled | superseded | supersedes
    | obsolete | outdated | retired | waived | waives | relaxed | does not apply | doesn't apply | do not apply
    | not in force | abandoned | repealed | retracted | retracts | set aside | overridden | overrides | ignore
    | ignored | disregard | disregarded | reversed | was removed | were removed | not anymore | anymore | any more
    | any longer | changed their mind | changed his mind | changed her mind | took back | takes back | former rule
    | old rule | previously | formerly | used to | in the past | suspended | paused | deprecated | expired | void
    | scrapped | rolled back | struck out | invalid
hedge: may need | might need | could need | may require | might require
    | roughly | approximately | approx | nearly | almost | around | circa | maybe | perhaps | possibly | probably
    | might | might be | might want to | unclear | unsure | not sure | uncertain | presumably | apparently | seemingly
    | seems | seems to | appears | appears to | may or may not | it is unclear | to be decided | tbd | to be confirmed
    | undecided | proposed | proposal | suggestion | suggested | suggests | suggest | suggests to | considering
    | considered | open question | question | questions | asked whether | asked if | wonders | wondered
    | wonders whether | discussed | discussing | debated | whether to | not decided | unconfirmed | i think | believes
    | thinks | could be that | likely | assumed | guess | tentative | tentatively | idea | ideas | floated | raised
    | mentioned | under discussion | optional idea
hearsay: according to | reportedly | allegedly | supposedly | it is said | says that | say that | claims | claimed
    | the docs say | documentation says | guide suggests | comment says | a comment in | readme says | someone
    | somebody | a colleague | rumoured | quoted | stated in | states | recommended by | recommends that | example
    | for example | for instance | sample | quote
past: so far | to date | until now | up to now | was | were | had | had been | has been | have been | did | did not
    | didn't | was not | wasn't | were not | weren't | never did | hadn't | had not | got | has already | have already
    | already | has not | hasn't | haven't | have not | used up | yesterday | earlier | has never | have never
    | had never | was never | were never
user: let me | i will | leave it to me | i | me | my | myself | mine | the user | user | users | the user's | user's
    | their | they | them | theirs | i'm | i've | i'd | i'll | we | us | our | the human | he | she | his | her | him
    | explicit user
agent: you | your | yourself | the agent | agent | the assistant | assistant | the agent's | the model | agents
    | the ai | claude | codex | you'll | you're | the bot | itself | copilot
clause: and | but | or | however | also | plus | so | as well as | and also | though | although
light: themselves | himself | herself | itself | please | kindly | simply | really | very | actually | the | a | an
    | this | that | these | those | it | its | to | of | in | on | at | by | for | with | as | is | are | be | been
    | being | am | do | does | done | doing | have | has | having | into | onto | via | through | there | here | so
    | than | too | still | their own | on their own | on its own | explicitly | such | way | it's | that's | there's
    | let | lets | let's | letting | kept | one | ones | out | up | down | off | about | also | just so | note
    | remember | remember to | keep in mind | going forward | from now on | from here on | henceforth | per | between
    | among | within the | else | absolutely | definitely | certainly | strictly speaking | whose | which | who | what
    | along | against | directed | towards | toward | across | exactly | precisely | important | rule | rules
    | constraint | constraints | requirement | requirements | instruction | instructions | policy | standing
    | critical | binding | hard | told | thing | things | item | items | if any | like | go | goes | went | going
    | come | comes | take | takes | get | gets | give | gives | given | put | puts | set | sets | make | makes | made
    | making | happen | happens | happening | occur | occurs | place | apply | applies | applied | stick to
    | sticks to | sticking to | adhere to | adheres to | ever | now | stay | stays | remain | remains | keep | keeps
    | keeping | maintain | maintained | use | uses | used | using | use of | usage | perform | performed | carried out
    | carry out | done by | work | works | working | turn out to be | turns out to be | turn out to | turns out to
    | happens to be | happen to be | happens to | happen to | prove to be | proves to be | end up | ends up | ended up
    | ending up | entirely | completely | totally | altogether | fully | outright | wholly | under any circumstances
    | under all circumstances | in any circumstances | for any reason | in any case | in all cases | no matter what
    | come what may | in any way | in any form | of any kind | of any sort | as such | in line with | as agreed
    | as requested | as instructed | on request | repeatedly | made it plain that | made it clear that
    | has made it clear that | made clear that | made plain that | stressed that | stresses that | has stressed that
    | emphasised that | emphasized that | emphasises that | pointed out that | points out that | said that
    | has said that | stated that | specified that | laid down that | decided that | reminded the agent that
    | was clear that | is clear that | was explicit that | is adamant that | was adamant that | is firm that | wish
    | wishes | ground rule | ground rules | house rule | house rules | request from | namely | belong | belongs
    | preserve | preserves | preserved | preserving | retained | proceed | proceeds | out of | taken | worked
    | instead | this project | this repo | this repository | this codebase | in this project | of this project
    | for this project | from this project | in this repo | of this repo | in this repository | of this repository
    | in this codebase | project-wide | at the same time | each time | in each case | in every case | in question
"""
)

SYNONYMS = classes(
    """
modify change edit alter touch update adjust amend tweak modification alteration
run execute invoke rerun execution launch ran
create add introduce creation
delete remove erase removal deletion
ask consult confirm check-with inquire consultation asking

permission approval consent go-ahead go-aheads approve sign-off signoff authorisation authorization ok blessing
permission agreement assent clearance
reply answer respond response
finish complete completion completed
folder directory
commit commits check-in
deploy deployment release rollout ship
test tests testsuite suite
verify validate check verification validation
repo repository
dependency dependencies
doc docs documentation
config configuration settings
stop halt pause cease
start commence
fail failure fails break
succeed success pass
function routine
library package
database db
backup back-up
retry retries reattempt
production prod
development dev
message messages
exceed surpass exceeded over
secret secrets credential credentials
review reviewed inspect
send sends
directly direct straight
immediately right-away instantly
bullet bulleted
quietly silently
lint linter linting
merge merged
push pushed pushing
comment comments
draft drafts
stick adhere
metric si
show shown display present
write writes wrote written
break broken broke
choose chosen chose
send sent
build built
leave left
hold held
tell told inform informs notify notified notification
convert conversion
expose exposure
publish publication
decide decision
describe description
explain explanation
include inclusion
exclude exclusion
submit submission
expand expansion
refer reference
replace replacement
reduce reduction
resolve resolution
define definition
invoke invocation
restore restoration
close closure
sign signature signing
recover recovery
analyse analysis
licence license licensed licensing
format formatter formatting
brief short concise
compatible compatibility
retain retention
encrypt encryption
translate translation
compress compression
find found
begin begun began
see seen saw
throw thrown threw
draw drawn drew
hide hidden hid
overwrite overwritten overwrote
rewrite rewritten rewrote
spend spent
pay paid
store storage
freeze frozen froze
install installation
obtain acquire
speak spoken
"""
)

VERBS = frozenset(
    """
add adhere contain carry appear exist adjust aim align allow analyse analyze annotate answer append apply approve
archive ask assert assume attach audit avoid back backup base be begin branch break bring build bump bundle cache
call cancel cap capture change check choose clean clear clone close code collect combine comment commit compare
compile complete compress configure confirm consult continue convert copy count cover create cut debug declare
deduplicate default define delete deploy derive describe design detect diff disable discard display ditch document
download draft drop dump duplicate echo edit email embed emit enable encode encrypt end enforce ensure escape
estimate exclude execute exit expect explain export expose extend extract favor favour fetch file fill filter find
finish fix flag flatten focus follow force fork format freeze generate get give go group guard halt handle hash hide
hold ignore implement import include increase indent index init initialise initialize inline insert inspect install
instrument integrate invoke isolate iterate join keep kill label launch leave let license limit link lint list load
localise lock log look lower maintain make map mark match measure mention merge migrate minimise minimize mirror
mock modify monitor mount move mute name normalise normalize note notify omit open optimise optimize order organise
organize output overwrite package pad parse pass patch pause perform pick pin ping pipe place plan poll pop port
post prefer prefix prepare preserve press prevent print prioritise prioritize profile prompt propose protect prove
provide prune publish pull purge push put query queue quit quote raise read rebase rebuild record reduce refactor
refer refrain refresh refuse register reject release reload remember remove rename render reorder replace reply
report reproduce request require reserve reset resolve respect respond restart restore restrict resume retain retry
return reuse revert review rewrite roll rotate round route run sanitise sanitize save say scan schedule scope search
secure see select send separate serve set share ship show shut sign simplify skip sort specify split squash stage
start state stay stick stop store stream strip structure submit suggest summarise summarize supply support suppress
swap switch sync tag take target tell test throw tidy time touch trace track translate treat trigger trim truncate
try tune turn type undo uninstall unset update upgrade upload use validate vendor verify version view wait warn
watch work wrap write zip act address adopt alert assign await block communicate contact depend fail feel rely spend
talk think
""".split()
)

LEXICON = Lexicon(
    name="english",
    spaced=True,
    stemmer="english",
    operators=OPERATORS,
    synonyms=SYNONYMS,
    verbs=VERBS,
    words=frozenset(),
    aliases={
        "check with": "ask",
        "checks with": "ask",
        "checking with": "ask",
        "put together": "build",
        "clean up": "cleanup",
        "shut down": "shutdown",
        "time out": "timeout",
        "time-out": "timeout",
        "check out": "checkout",
        "daily": "day",
        "weekly": "week",
        "monthly": "month",
        "hourly": "hour",
        "yearly": "year",
        "go ahead": "permission",
        "sign off": "permission",
        "green light": "permission",
        "give the go": "permission",
        "let me know": "tell",
        "take a look at": "review",
        "look at": "review",
        "look over": "review",
        "looked at": "review",
        "looked over": "review",
        "get rid of": "delete",
        "back up": "backup",
        "backs up": "backup",
        "backed up": "backup",
        "backing up": "backup",
        "read-only": "read-only",
        "readonly": "read-only",
        "read only": "read-only",
        "bullet points": "bullets",
        "bullet point": "bullets",
        "bulleted lists": "bullets",
        "bullet lists": "bullets",
        "set up": "setup",
        "code base": "codebase",
        "carry on": "continue",
        "figure out": "find",
        "roll back": "revert",
        "lock file": "lockfile",
        "change log": "changelog",
        "type hints": "types",
        "type annotations": "types",
        "test suite": "test",
        "thumbs up": "permission",
    },
    implied=dict.fromkeys(
        (
            "left alone",
            "be left alone",
            "must be left alone",
            "is to be left alone",
            "are to be left alone",
            "be left untouched",
            "be left unchanged",
            "be left as is",
            "not to be touched",
            "stay untouched",
            "stays untouched",
            "remain untouched",
            "remains untouched",
            "stay unchanged",
            "stays unchanged",
            "remain unchanged",
            "remains unchanged",
            "stay as is",
            "stays as is",
            "stay as it is",
            "stays as it is",
            "stay as they are",
            "remain as is",
            "remains as it is",
            "remain as they are",
            "kept as is",
            "kept as it is",
            "off limits",
            "off-limits",
            "out of bounds",
            "is off limits",
            "are off limits",
            "hands off",
            "leave alone",
            "stay out of",
            "stay away from",
            "steer clear of",
            "keep out of",
            "keep away from",
        ),
        "modify",
    ),
)
