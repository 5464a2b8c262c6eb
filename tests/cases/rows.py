"""Every row of the list of public bug kinds: what goes wrong there, and which tests provoke the kind here; or which later
part of the product it belongs to, and why it cannot be provoked before. `test_rows.py` checks the list.
"""

from enum import StrEnum
from typing import NamedTuple

COUNT = 93
"""Rows that the list has."""


class Later(StrEnum):
    """A part of the product that is still to come, and why a row waits for it."""

    AUTOMATIC_SAVING = (
        "the helper model and automatic saving: nothing is taken from conversations by a model before"
    )
    CONSOLIDATION = "maintenance and consolidation: no pass merges, rewrites or summarises by itself before"
    CHAT_BRAIN = "the chat brain: no model reads what was recalled, and no prompt is made, before"
    DISCORD = "the Discord channel: there is no endpoint of it before"
    TELEGRAM = "the Telegram channel: there is no endpoint of it before"
    SERVERLESS = "a target for serverless vector collections: the adapter takes managed or own nodes only"


class Row(NamedTuple):
    """One row."""

    what: str
    """What went wrong."""
    tests: tuple[str, ...] = ()
    """Where the kind is provoked: `<file>::[<class>::]<test>`."""
    later: Later | None = None
    """What else of it belongs to a later part; all of it when there are no tests."""


ROWS: dict[str, Row] = {
    # Junk, hallucinated and self-fed memories
    "mem0ai/mem0#4573": Row(
        "Almost all that was stored came from the bot's own instructions and from what it had just recalled.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "mem0 PR#2744": Row(
        "Examples of the extraction prompt were stored as the person's memories.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "hindsight PR#3378, PR#3383": Row(
        "Wrapper texts and summaries of the client counted as words of the person.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "netclaw-dev/netclaw#379": Row(
        "Small talk filled the memory: almost one new fact a turn.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "MemMachine/MemMachine#1008": Row(
        "What the assistant said was preferred to what the person said.",
        (
            "tests/cases/test_retrieval_and_time.py::test_a_question_about_a_person_surfaces_the_persons_own_words",
            "tests/unit/domain/test_ranking.py::test_an_author_named_in_the_query_counts",
        ),
    ),
    # Duplicates, merges and updates
    "mem0#1674": Row(
        "Adding a memory a second time deleted it.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_saying_the_same_again_deletes_nothing",
            "tests/unit/services/memory/test_remember.py::test_the_same_sentence_twice_is_stored_twice_and_the_first_is_reported",
        ),
    ),
    "cyzus/suzent#34 (fix PR#36)": Row(
        "A new fact near an old one was called an update and thrown away.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_a_change_close_to_what_was_known_is_never_dropped",
        ),
    ),
    "mem0#3931, PR#4674": Row(
        "An id that does not exist made the update crash.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_a_number_that_does_not_exist_changes_nothing",
            "tests/cases/test_duplicates_and_changes.py::test_what_is_no_number_is_refused_by_its_field",
        ),
    ),
    "graphiti PR#955": Row(
        "A fact told twice in one message was stored twice without notice.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_what_is_said_twice_in_one_batch_is_stored_as_said_and_reported",
            "tests/unit/services/memory/test_remember.py::test_an_equal_one_within_a_batch_is_reported",
        ),
    ),
    "graphiti PR#1212": Row(
        "A relation of one pair overwrote the same relation of another pair.",
        ("tests/cases/test_duplicates_and_changes.py::test_the_same_key_of_two_subjects_is_two_facts",),
    ),
    "hindsight#3953": Row(
        "The same fact of two channels was kept apart for ever.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_the_same_fact_of_two_channels_is_noticed_and_can_become_one",
        ),
    ),
    "rahilp/second-brain-cloudflare#135": Row(
        "An edit or a merge removed the vector just written, and the memory was found no more.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_what_was_changed_is_found_by_its_exact_words_ever_after",
            "tests/unit/services/memory/test_revise.py::test_an_edited_memory_is_found_by_its_new_words_and_no_longer_by_the_old",
        ),
    ),
    "letta-ai/letta#3431": Row(
        "Nobody measured how well duplicates are told from updates and from others.",
        later=Later.CONSOLIDATION,
    ),
    # Contradiction and invalidation going wrong
    "graphiti#1865": Row(
        "Two occasions of a repeated event became one.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_two_occasions_of_the_same_event_are_two_memories",
        ),
    ),
    "hindsight PR#3182 (#3112)": Row(
        "A small refresh overwrote a whole page of knowledge.",
        later=Later.CONSOLIDATION,
    ),
    "nowledge-co/nowledge-mem#81": Row(
        "Rows vanished during background work, without an event and without a way back.",
        (
            "tests/cases/test_duplicates_and_changes.py::TestBackgroundPasses::test_every_pass_leaves_the_ledger_whole",
            "tests/unit/jobs/test_schedules.py::test_faded_memories_go_to_the_trash_and_no_more_of_them_at_a_second_firing",
        ),
    ),
    "hindsight#1214, #2977": Row(
        "What was just said could not be found before a later pass.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_what_was_just_said_answers_the_next_message",
            "tests/unit/services/memory/test_search_and_recall.py::test_what_was_just_written_is_found_at_once",
        ),
    ),
    # Wrong person, wrong room
    "mem0 PR#6892": Row(
        "Keys made of ids met when an id held the separator.",
        (
            "tests/contracts/stores/test_spaces.py::test_no_space_sees_anything_of_a_space_with_a_similar_name",
            "tests/contracts/stores/test_places.py::test_no_name_of_a_conversation_reaches_into_another",
            "tests/unit/domain/test_values.py::test_a_space_without_a_proper_identity_cannot_be_made",
            "tests/security/test_isolation.py::test_no_attempt_shows_or_changes_anything_of_another",
        ),
    ),
    "mem0#1528": Row(
        "What is true of a relative was stored as true of the speaker.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "hermes-agent#64340": Row(
        "An agent kept from one member's turn wrote the next one's memories.",
        (
            "tests/security/test_isolation.py::test_what_is_said_just_before_is_never_taken_from_another",
            "tests/unit/local/test_threads.py::test_the_keys_of_two_people_are_never_taken_for_each_other",
            "tests/e2e/test_threads.py::test_no_client_is_given_what_another_one_asked_for",
        ),
    ),
    "CortexReach/memory-lancedb-pro#10": Row(
        "The identity was read from the wrong place, and everybody was `main`.",
        (
            "tests/security/test_missing_identity.py::test_no_use_case_works_for_nobody",
            "tests/security/test_missing_identity.py::test_no_store_and_no_index_does_anything_for_nobody",
            "tests/unit/web/test_doors.py::test_nobody_comes_in_without_a_credential_that_holds",
        ),
    ),
    "openclaw#85240, PR#85389": Row(
        "Recall crossed from one person to another of the same name.",
        (
            "tests/security/test_access.py::test_people_of_the_same_name_are_not_the_same_person",
            "tests/security/test_isolation.py::test_no_attempt_shows_or_changes_anything_of_another",
        ),
    ),
    "CaviraOSS/OpenMemory#97": Row(
        "A query gave the rows of everybody although it named a person.",
        (
            "tests/security/test_isolation.py::test_no_attempt_shows_or_changes_anything_of_another",
            "tests/security/test_isolation.py::test_lists_and_counts_of_the_index_are_of_the_space",
        ),
    ),
    "graphiti PR#752, PR#1670 (and #1675)": Row(
        "One way of searching lacked the condition on the tenant.",
        (
            "tests/security/test_isolation.py::test_nor_by_any_single_way_of_answering",
            "tests/security/test_isolation.py::test_each_leg_of_the_index_finds_only_what_is_of_the_space",
            "tests/security/test_isolation.py::test_each_leg_passes_over_what_was_just_written_in_other_spaces",
            "tests/contracts/search/test_isolation.py::test_a_leg_finds_only_what_is_of_the_space",
            "tests/unit/search/test_opensearch_queries.py::test_the_condition_on_the_space_is_in_every_leg_and_every_list",
        ),
    ),
    "moorcheh-ai/memanto PR#1873, PR#1891": Row(
        "A missing scope meant everything instead of nothing.",
        (
            "tests/security/test_missing_identity.py::test_no_use_case_works_for_nobody",
            "tests/security/test_missing_identity.py::test_no_store_and_no_index_does_anything_for_nobody",
            "tests/security/test_missing_identity.py::test_opensearch_is_asked_nothing_for_nobody",
            "tests/unit/search/test_opensearch_queries.py::test_without_a_scope_there_is_no_query",
        ),
    ),
    "Shapes docs": Row(
        "Without an author the owner of the key got the memory.",
        (
            "tests/security/test_missing_identity.py::test_a_request_of_nobody_cannot_be_made",
            "tests/security/test_access.py::test_nothing_of_a_caller_has_a_default",
        ),
    ),
    # Deletion that does not delete
    "supermemoryai/supermemory#142, #195": Row(
        "Search went on finding what was deleted.",
        (
            "tests/cases/test_deletion_and_rooms.py::test_what_is_deleted_is_found_by_no_way",
            "tests/contracts/search/test_fresh.py::test_just_trashed_it_is_not_found_any_more",
            "tests/contracts/search/test_fresh.py::test_just_erased_it_is_not_found_any_more",
        ),
    ),
    "NousResearch/hermes-agent PR#69134; openclaw/openclaw#6774": Row(
        "Forgetting by a query deleted the nearest hit unseen.",
        ("tests/cases/test_deletion_and_rooms.py::test_a_deletion_names_a_number_and_takes_nothing_near_it",),
    ),
    "mem0 PR#3610, PR#4505, PR#5541": Row(
        "Vectors, messages or rows of a graph outlived the memory.",
        (
            "tests/security/test_erasure.py::test_what_was_erased_is_nowhere_and_nothing_else_is_gone",
            "tests/security/test_erasure_on_servers.py::test_it_is_in_no_item_of_dynamodb",
            "tests/security/test_erasure_on_servers.py::TestInTheCloud::test_it_is_in_no_item_and_no_index",
        ),
    ),
    "mem0 PR#4349": Row(
        "Deleting all of one person emptied the store.",
        (
            "tests/cases/test_deletion_and_rooms.py::test_deleting_everything_of_one_leaves_everything_of_the_others",
        ),
    ),
    "topoteretes/cognee#3526": Row(
        "What was forgotten came back when the index was made anew.",
        (
            "tests/security/test_erasure.py::test_a_rebuilt_index_does_not_raise_the_dead",
            "tests/contracts/search/test_versions.py::test_the_dead_are_not_raised_by_a_late_record",
        ),
    ),
    "Hal0ai/hal0#449": Row(
        "Equal texts had one vector, which went with the first of them.",
        (
            "tests/security/test_erasure.py::test_the_same_words_of_another_memory_stay",
            "tests/contracts/search/test_isolation.py::test_erasing_in_one_space_leaves_the_same_text_in_another",
        ),
    ),
    "google/adk-python#7109; CaviraOSS/OpenMemory#119; langchain-ai/langgraph#3917": Row(
        "There was no way to remove what came from one place or one member.",
        ("tests/cases/test_deletion_and_rooms.py::test_everything_of_one_channel_can_be_erased",),
    ),
    # Silent loss and false success
    "mem0#3391, #4054, #4526, #4540": Row(
        "Answers of small models that are not quite JSON lost facts.",
        later=Later.AUTOMATIC_SAVING,
    ),
    "mem0 PR#6519": Row(
        "Errors of the search engine looked like an empty result.",
        (
            "tests/unit/services/memory/test_search_and_recall.py::test_without_an_index_the_table_answers_and_says_so",
            "tests/unit/search/test_opensearch_index.py::test_a_leg_that_failed_is_no_empty_result",
            "tests/e2e/test_cloud_parts.py::test_an_opensearch_that_goes_away_and_comes_back",
        ),
    ),
    "letta-code PR#2540": Row(
        "A write that changed nothing was called a success.",
        (
            "tests/cases/test_duplicates_and_changes.py::test_a_change_that_changed_nothing_is_not_called_done",
            "tests/unit/web/test_memories_api.py::test_an_edit_says_what_and_from_which_version",
        ),
    ),
    "JosephOIbrahim/Synapse PR#107": Row(
        "Every write failed for days while health was green.",
        (
            "tests/unit/local/test_service.py::test_a_folder_that_cannot_be_written_is_told_by_health_until_it_can",
            "tests/e2e/test_run.py::test_on_a_full_disk_reads_go_on_and_writes_come_back_by_themselves",
        ),
    ),
    "supermemoryai/openclaw-supermemory#24; openclaw/openclaw#29112": Row(
        "What was accepted could never be found.",
        (
            "tests/cases/test_retrieval_and_time.py::test_a_hundred_things_that_were_stored_are_all_found",
            "tests/contracts/search/test_texts.py::test_it_is_found_by_its_own_words",
        ),
    ),
    "hindsight PR#3397 (#3362)": Row(
        "A gauge never came back to zero after something had failed for good.",
        (
            "tests/unit/queues/test_sqlite_queue.py::test_when_only_poison_was_left_there_is_nothing_to_receive",
            "tests/unit/queues/test_sqlite_queue.py::test_a_poison_message_is_set_aside_and_its_group_goes_on",
            "tests/unit/stores/test_sqlite_outbox.py::test_a_poison_record_waits_longer_each_time_and_holds_nobody_up",
        ),
    ),
    "langchain-ai/langchain-aws#708; bedrock-agentcore-sdk-typescript PR#142": Row(
        "What was put into a namespace did not come out of it.",
        ("tests/cases/test_deletion_and_rooms.py::test_what_is_put_into_any_kind_of_space_comes_out_of_it",),
    ),
    # Time
    "mem0#3213": Row(
        "A time with a trailing Z matched nothing.",
        (
            "tests/cases/test_retrieval_and_time.py::test_one_moment_is_one_moment_however_it_is_written",
            "tests/unit/web/test_memories_api.py::test_a_time_may_come_with_or_without_z",
        ),
    ),
    "graphiti PR#988, PR#1605": Row(
        "Times with and without a zone could not be compared; one was lost on reading.",
        (
            "tests/cases/test_retrieval_and_time.py::test_one_moment_is_one_moment_however_it_is_written",
            "tests/unit/domain/test_values.py::test_times_are_utc_with_milliseconds_and_sort_as_texts",
        ),
    ),
    "BEAM results": Row(
        "Nobody could tell what came first.",
        (
            "tests/cases/test_retrieval_and_time.py::test_what_was_said_first_is_known",
            "tests/unit/services/memory/test_search_and_recall.py::test_a_question_about_a_day_finds_what_was_said_on_it",
        ),
    ),
    # Retrieval relevance and robustness
    "mem0 PR#5258, PR#2899": Row(
        "An empty question was answered, and an unrelated one too.",
        (
            "tests/cases/test_retrieval_and_time.py::test_a_question_without_a_word_is_refused",
            "tests/unit/services/memory/test_search_and_recall.py::test_an_unrelated_question_finds_nothing",
        ),
    ),
    "doobidoo/mcp-memory-service#487": Row(
        "A threshold that let nothing through did so in silence.",
        (
            "tests/cases/test_retrieval_and_time.py::test_that_nothing_passed_the_threshold_is_said",
            "tests/unit/services/memory/test_search_and_recall.py::test_recall_says_what_was_left_out_and_why",
        ),
    ),
    "hindsight PR#2364": Row(
        "What has no tag could not be asked for.",
        ("tests/cases/test_retrieval_and_time.py::test_what_has_no_category_can_be_asked_for_alone",),
    ),
    "hindsight PR#3066; SillyTavern docs": Row(
        "Recalled text in the system prompt broke the cache of prompts.",
        later=Later.CHAT_BRAIN,
    ),
    # Language, privacy, poisoning
    "mem0#6312, #3707, #1817; hindsight PR#3181 (#3166); omi#4625": Row(
        "Texts were stored in another language than they were said in.",
        (
            "tests/cases/test_retrieval_and_time.py::test_what_was_said_in_a_language_stays_in_it",
            "tests/prove/test_shapes.py::test_texts_of_every_shape_come_back_unchanged_by_every_way",
            "tests/e2e/test_crosslingual.py::test_a_fact_is_found_by_its_paraphrase_in_another_language",
        ),
    ),
    "graphiti PR#1237; mem0 PR#4757": Row(
        "Personal data were in logs and in requests to others.",
        (
            "tests/e2e/test_run.py::test_nothing_of_a_memory_is_ever_printed",
            "tests/unit/stores/test_dynamodb_cases.py::test_nothing_of_a_memory_reaches_a_log_however_much_is_logged",
            "tests/unit/search/test_opensearch_client.py::test_no_error_carries_what_the_engine_quotes",
            "tests/unit/providers/test_http.py::test_neither_key_nor_text_is_told_anywhere",
            "tests/unit/web/test_failures.py::test_the_log_of_an_unknown_error_holds_no_text_of_a_memory",
        ),
    ),
    "NVIDIA/garak PR#1855, cosai-oasis/secure-ai-tooling#524, OWASP agentic top ten (memory poisoning), MITRE ATLAS AML.T0080, arXiv 2607.14611": Row(
        "What one member planted was obeyed in another's turn.",
        (
            "tests/cases/test_retrieval_and_time.py::test_a_recalled_text_cannot_pose_as_another_memory",
            "tests/unit/services/memory/test_what_models_may_do.py::test_what_it_was_not_shown_does_not_exist_for_it",
        ),
        later=Later.CHAT_BRAIN,
    ),
    # Discord (interactions endpoint, bots)
    "discord/discord-interactions-js#26, #53; discord-example-app#20; user-install-example#22": Row(
        "The endpoint could not be verified: the body was read before its signature.",
        later=Later.DISCORD,
    ),
    "mcdallas/rust-discord-bot#2; ker0olos/aws-lambda-discord-bot PR#1": Row(
        "Signatures failed behind a gateway that had changed the body.",
        later=Later.DISCORD,
    ),
    "getsentry/sentry PR#60881": Row(
        "Bad signatures were an error instead of a refusal.",
        later=Later.DISCORD,
    ),
    "discordjs/discord.js#7005, #10752; discord-api-docs#5558; nextcord/nextcord#1073": Row(
        "Answers came after the three seconds that are allowed.",
        later=Later.DISCORD,
    ),
    "discord/discord-api-docs#6851": Row(
        "A token that had ended was taken for one that fails for a moment.",
        later=Later.DISCORD,
    ),
    "discord-api-docs#7220": Row(
        "A follow-up that is not found now and then was given up at once.",
        later=Later.DISCORD,
    ),
    "Rapptz/discord.py#10201; HKUDS/nanobot PR#308; Dragory/modmailbot#514, #711; discord-api-docs#3116": Row(
        "A reply longer than a message may be was lost.",
        later=Later.DISCORD,
    ),
    "Significant-Gravitas/AutoGPT PR#13174; NousResearch/hermes-agent PR#29961, PR#6692; HKUDS/nanobot PR#3280; discourse-ai PR#507": Row(
        "Bots answered each other without end.",
        later=Later.DISCORD,
    ),
    "nextlevelbuilder/goclaw#165": Row(
        "A profile was kept for each channel instead of each member.",
        later=Later.DISCORD,
    ),
    # Telegram
    "telegraf/telegraf#806; vercel/chat PR#799; felinics/Memoh#337; openclaw PR#59160": Row(
        "An update that was delivered again was answered again.",
        later=Later.TELEGRAM,
    ),
    "aeonfun/aeon PR#937": Row(
        "An update was called done before it was.",
        later=Later.TELEGRAM,
    ),
    "Abilityai/trinity#2727": Row(
        "An update that came late was taken for one that came twice.",
        later=Later.TELEGRAM,
    ),
    "tdlib/telegram-bot-api#341, #211": Row(
        "The platform waited, and sent again.",
        later=Later.TELEGRAM,
    ),
    "openclaw/openclaw PR#70146": Row(
        "A slow acknowledgement led to ever more deliveries.",
        later=Later.TELEGRAM,
    ),
    "eternnoir/pyTelegramBotAPI#356": Row(
        "The gateway's answer was none that the platform takes.",
        later=Later.TELEGRAM,
    ),
    "lesterchan/telegram-bot#2": Row(
        "Work went on in the next request's process.",
        later=Later.TELEGRAM,
    ),
    "tdlib/telegram-bot-api#422": Row(
        "Errors slowed all deliveries down.",
        later=Later.TELEGRAM,
    ),
    "python-telegram-bot/python-telegram-bot#2371, #3585; windkh/node-red-contrib-telegrambot#301; bostrot/telegram-support-bot#149, #116; tucnak/telebot#553; letta-ai/lettabot#641; sudoskys/telegramify-markdown#27": Row(
        "Signs that mean something in the platform's markup broke the message.",
        later=Later.TELEGRAM,
    ),
    "FerroxLabs/wayland#934": Row(
        "Lengths were counted otherwise than the platform counts them.",
        later=Later.TELEGRAM,
    ),
    "Mintplex-Labs/anything-llm#5447; agno-agi/agno#7360; letta-ai/lettabot PR#433; m1guelpf/chatgpt-telegram#22, #63": Row(
        "The final text was lost to a limit on edits.",
        later=Later.TELEGRAM,
    ),
    "TwiN/gatus#179; atipugin/telegram-bot-ruby#239; TelegramBots/Telegram.Bot#171; eternnoir/pyTelegramBotAPI#1682; tdlib/telegram-bot-api#266": Row(
        "A group became another one, and its memory was left behind.",
        later=Later.TELEGRAM,
    ),
    # API Gateway, Lambda, Chalice
    "aws/chalice#1501, #348, #708": Row(
        "Binary answers came as base64.",
        (
            "tests/unit/local/test_front.py::test_bytes_are_answered_as_bytes",
            "tests/unit/local/test_front.py::test_any_bytes_reach_the_app_as_they_were_sent",
        ),
    ),
    "aws/chalice#637": Row(
        "Nothing runs after the response.",
        (
            "tests/unit/jobs/test_stream.py::test_a_new_job_is_sent_to_the_queue_once",
            "tests/deployed/test_deployed.py::test_a_job_goes_through_the_stream_and_the_queue_to_its_worker",
        ),
    ),
    "aws/chalice#1580, #537": Row(
        "Work took longer than the gateway waits.",
        ("tests/architecture/test_code.py::test_tables_answer_well_before_the_gateway_gives_up",),
    ),
    # DynamoDB and PynamoDB
    "pynamodb/PynamoDB#1247": Row(
        "An update set the version back to 1.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_1247_no_write_takes_a_version_back_to_one",
        ),
    ),
    "pynamodb#706, #878": Row(
        "A transaction let something through that had to be unique.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_706_what_must_be_unique_is_guarded_by_a_condition_on_its_own_item",
            "tests/contracts/stores/test_concurrency.py::test_of_writers_of_the_same_new_number_exactly_one_succeeds",
        ),
    ),
    "pynamodb#1203": Row(
        "A batch writes without conditions.",
        ("tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_1203_a_batch_is_never_used_to_write",),
    ),
    "pynamodb#137, #406, #1056, #441, #364": Row(
        "A limit was taken for the size of a page of matches.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_137_pages_are_filled_however_short_the_answers_are",
        ),
    ),
    "aws/aws-sdk-java#339; aws-amplify/amplify-cli#7975": Row(
        "A limit came before the filter, and an empty page was taken for the end.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_aws_sdk_java_339_an_answer_without_any_match_is_not_the_end",
        ),
    ),
    "pynamodb#259": Row(
        "Items that had expired were still given.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_259_an_expired_record_that_is_still_there_counts_as_gone",
            "tests/contracts/stores/test_inbox.py::test_an_expired_record_is_not_given",
        ),
    ),
    "floci-io/floci#127": Row(
        "An emulator did not resolve generated placeholders.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_floci_127_what_is_sent_has_placeholders_and_the_emulator_resolves_them",
        ),
    ),
    "pynamodb/PynamoDB#1264": Row(
        "Conflicts of transactions were not tried again.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_1264_a_conflict_is_tried_again_after_a_drawn_wait",
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_1264_a_conflict_without_end_is_not_taken_for_a_stale_version",
            "tests/unit/stores/test_dynamodb_cases.py::test_pynamodb_1264_a_failed_condition_is_told_at_once_even_beside_a_conflict",
        ),
    ),
    "boto/boto3#369, #534, #665; Chainlit/chainlit#1116; langchain PR#26562": Row(
        "Fractions, scores and vectors were no numbers of the database.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_boto3_369_no_float_is_ever_sent_as_a_number",
            "tests/unit/stores/test_dynamodb_cases.py::test_boto3_369_what_is_no_number_is_refused",
            "tests/contracts/stores/test_memories.py::test_confidences_keep_every_bit",
        ),
    ),
    "Chainlit/chainlit#1776; aws-samples/aws-genai-llm-chatbot#580; aaronsu11/langgraph-checkpoint-dynamodb#8; justinram11/langgraph-checkpoint-dynamodb#2; codeforstartups/dynavec#25": Row(
        "An item was too large when half of it was written.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_chainlit_1776_nothing_at_all_is_sent_of_a_commit_with_an_item_too_large",
            "tests/unit/stores/test_dynamodb_cases.py::test_chainlit_1776_what_json_makes_longer_is_measured_as_it_is_sent",
            "tests/unit/stores/test_dynamodb_cases.py::test_chainlit_1776_vectors_that_do_not_fit_into_the_transaction_follow_it",
            "tests/prove/test_shapes.py::test_the_largest_texts_come_back_unchanged",
        ),
    ),
    "BrighterCommand/Brighter#2810; gravitational/teleport#43372; aws-samples/sample-collaborative-ai-dlc PR#443; transifex/transifex-delivery PR#125": Row(
        "All of one large community went to one hot partition.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_brighter_2810_one_big_guild_under_throttling_loses_and_doubles_nothing",
        ),
    ),
    "xoeye/xoto3 PR#13": Row(
        "A plain update failed while a transaction held its item.",
        (
            "tests/unit/stores/test_dynamodb_cases.py::test_xoto3_13_a_plain_update_waits_for_a_transaction_that_holds_its_item",
        ),
    ),
    # OpenSearch and k-NN
    "k-NN#1003, #1081; OpenSearch#9633; opendistro-for-elasticsearch/k-NN#353": Row(
        "Neighbours were missing when there were many segments or many deletions.",
        (
            "tests/contracts/search/test_opensearch.py::TestNearestNeighbours::test_are_found_in_many_segments_after_deleting_and_writing_again",
            "tests/contracts/search/test_opensearch.py::TestNearestNeighbours::test_of_a_small_space_are_exact_among_many_spaces",
        ),
    ),
    "k-NN#1424, #366, #1891": Row(
        "Memory that ran out looked like a fault of the document.",
        (
            "tests/unit/search/test_opensearch_client.py::test_memory_that_ran_out_is_told_from_a_broken_document",
        ),
    ),
    "k-NN#2809": Row(
        "A field's name broke the index of vectors.",
        ("tests/unit/search/test_opensearch_mappings.py::test_field_names_are_plain",),
    ),
    "open-metadata/OpenMetadata#30880, #29404; langchain-ai/langchainjs#7530; aws-samples/aws-ai-ml-workshop-kr#92": Row(
        "Vectors of another dimension: errors nobody understood, and an index that grew old in silence.",
        (
            "tests/contracts/search/test_opensearch.py::TestDimensions::test_a_vector_of_another_dimension_comes_back_and_the_words_stay",
            "tests/contracts/search/test_opensearch.py::TestDimensions::test_a_query_of_another_dimension_is_an_error_not_an_empty_result",
            "tests/unit/services/memory/test_search_and_recall.py::test_a_new_embedding_model_answers_by_words_until_the_space_is_indexed_anew",
        ),
    ),
    "opencloud-eu/opencloud PR#3388; opensearch-project/OpenSearch#12123, #4139; elastic/elasticsearch-js#231": Row(
        "What was written was not found before the engine had refreshed.",
        (
            "tests/e2e/test_cloud_parts.py::test_what_was_written_is_found_in_every_moment_afterwards",
            "tests/contracts/search/test_opensearch.py::test_writes_are_seen_within_seconds_although_nobody_searches_or_refreshes",
            "tests/unit/search/test_opensearch_mappings.py::test_idle_shards_are_refreshed_too",
            "tests/contracts/search/test_fresh.py::test_each_leg_finds_it_at_once_and_once",
        ),
    ),
    "opensearch-py#792, #600; langchainjs#4346; spring-ai#3818; mem0#3739": Row(
        "An engine without servers refuses ids of our own.",
        later=Later.SERVERLESS,
    ),
    "mem0 PR#4418": Row(
        "Credentials were lost when the settings were copied.",
        (
            "tests/unit/search/test_opensearch_client.py::test_credentials_are_kept_as_they_are_given",
            "tests/unit/test_bootstrap.py::test_calls_to_opensearch_on_aws_are_signed",
        ),
    ),
}
"""By the reports that tell of it."""
