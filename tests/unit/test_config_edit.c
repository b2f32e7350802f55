#include "test.h"

#include "config/edit.h"

static const char document[] =
    "{\"spec\": {\"list\": [{\"name\": \"app\", \"env\": []}]}}";

static void change(struct edit *e)
{
    edit_put(e, "spec/map/a~1b", "\"1\"");
    edit_add(e, "spec/list/{name=app}/env", "name", "{\"name\": \"A\"}");
}

TEST(a_change_is_a_patch)
{
    struct buf patch = BUF_INIT(1 << 16);
    struct error err;
    struct edit *e = edit_new(str_from(document), &err);

    change(e);
    EXPECT(edit_patch(e, &patch, &err));
    EXPECT_STR(buf_str(&patch),
               "[{\"op\":\"add\",\"path\":\"/spec/map\",\"value\":{}},"
               "{\"op\":\"add\",\"path\":\"/spec/map/a~1b\","
               "\"value\":\"1\"},"
               "{\"op\":\"add\",\"path\":\"/spec/list/0/env/-\","
               "\"value\":{\"name\":\"A\"}}]");
    buf_release(&patch);
    edit_free(e);
}

TEST(a_change_is_taken_back)
{
    struct buf note = BUF_INIT(1 << 16), kept = note;
    struct error err;
    struct edit *e = edit_new(str_from(document), &err);

    change(e);
    edit_note(e, &note);
    EXPECT(edit_has(e, "spec/list/{name=app}/env/{name=A}"));
    edit_undo(e, buf_str(&note), &kept);
    EXPECT(!edit_has(e, "spec/map"));
    EXPECT(edit_has(e, "spec/list/{name=app}/env"));
    EXPECT(edit_count(e, "spec/list/{name=app}/env") == 0);
    EXPECT(kept.len == 0);
    buf_release(&note);
    buf_release(&kept);
    edit_free(e);
}

TEST(what_somebody_has_changed_stays)
{
    struct buf note = BUF_INIT(1 << 16), kept = note;
    struct error err;
    struct edit *e = edit_new(str_from(document), &err);

    change(e);
    edit_note(e, &note);
    edit_put_plain(e, "spec/map/a~1b", "\"2\"");
    edit_undo(e, buf_str(&note), &kept);
    EXPECT(edit_has(e, "spec/map/a~1b"));
    EXPECT_STR(buf_str(&kept), "spec/map/a~1b\n");
    buf_release(&note);
    buf_release(&kept);
    edit_free(e);
}

TEST(a_note_that_is_none_is_refused)
{
    struct buf out = BUF_INIT(1 << 16);
    struct error err;
    struct edit *e = edit_new(str_from(document), &err);

    edit_undo(e, STR("[1, null, {}, {\"at\": 3}]"), &out);
    EXPECT(edit_steps(e) == 0);
    EXPECT(edit_patch(e, &out, &err));
    edit_undo(e, STR("{"), &out);
    EXPECT(!edit_patch(e, &out, &err));
    EXPECT(!edit_new(STR("[]"), &err));
    buf_release(&out);
    edit_free(e);
}

TEST(a_path_with_an_empty_step_names_nothing)
{
    static const char *const paths[] = {"spec/list/", "/spec", "spec//list",
                                        "/", "spec/map/"};
    struct buf out = BUF_INIT(1 << 16);
    struct error err;
    struct edit *e = edit_new(str_from(document), &err);

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct buf note = BUF_INIT(1 << 10);

        EXPECT(!edit_has(e, paths[i]));
        buf_addf(&note, "[{\"at\": \"%s\"}]", paths[i]);
        edit_undo(e, buf_str(&note), &out);
        buf_release(&note);
    }
    EXPECT(edit_steps(e) == 0);
    edit_put_plain(e, "spec/", "\"1\"");
    EXPECT(!edit_patch(e, &out, &err));
    EXPECT_STR(str_from(err.text), "spec/: has an empty step");
    buf_release(&out);
    edit_free(e);
}

TEST_MAIN
