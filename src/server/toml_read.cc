// SPDX-License-Identifier: MIT OR Apache-2.0
// The one file in C++: tomlplusplus walks the text, and everything that leaves is C.
#include "server/toml_read.h"

#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <vector>

namespace {

// What the values of one key point to.
struct Store {
    std::deque<std::string> texts;
    std::deque<std::vector<cuzk_toml_value>> arrays;
};

cuzk_toml_value convert(const toml::node &node, Store &store)
{
    cuzk_toml_value v{};
    v.type = CUZK_TOML_OTHER;
    v.text = "";
    if (auto flag = node.as_boolean()) {
        v.type = CUZK_TOML_BOOL;
        v.number = flag->get() ? 1 : 0;
    } else if (auto number = node.as_integer()) {
        v.type = CUZK_TOML_NUMBER;
        v.number = number->get();
    } else if (auto text = node.as_string()) {
        v.type = CUZK_TOML_TEXT;
        store.texts.emplace_back(text->get());
        v.text = store.texts.back().c_str();
        v.text_bytes = store.texts.back().size();
    } else if (auto array = node.as_array()) {
        v.type = CUZK_TOML_ARRAY;
        std::vector<cuzk_toml_value> items;
        for (auto &&item : *array) {
            items.push_back(convert(item, store));
        }
        store.arrays.push_back(std::move(items));
        v.items = store.arrays.back().data();
        v.n_items = store.arrays.back().size();
    } else if (node.is_table()) {
        v.type = CUZK_TOML_TABLE;
    }
    return v;
}

using Each = cuzk_status (*)(void *user, const cuzk_toml_key *key);

struct Found {
    std::string path;
    const toml::node *node;
    unsigned line;
};

void collect(const toml::table &table, const std::string &prefix, std::vector<Found> &found)
{
    for (auto &&[name, node] : table) {
        std::string path = prefix;
        path.append(name.str());
        const toml::table *inner = node.as_table();
        if (inner != nullptr && !inner->empty()) {
            collect(*inner, path + ".", found);
        } else {
            found.push_back({path, &node, name.source().begin.line});
        }
    }
}

cuzk_status walk(const toml::table &table, Each each, void *user)
{
    std::vector<Found> found;
    collect(table, "", found);
    std::stable_sort(found.begin(), found.end(),
                     [](const Found &a, const Found &b) { return a.line < b.line; });
    for (const Found &f : found) {
        Store store;
        cuzk_toml_key key{};
        key.path = f.path.c_str();
        key.line = f.line;
        key.value = convert(*f.node, store);
        cuzk_status status = each(user, &key);
        if (status != CUZK_OK) {
            return status;
        }
    }
    return CUZK_OK;
}

cuzk_status fail(cuzk_error *err, cuzk_status status, const char *text)
{
    if (err != nullptr) {
        err->status = status;
        std::strncpy(err->text, text, sizeof err->text - 1);
        err->text[sizeof err->text - 1] = 0;
    }
    return status;
}

} // namespace

extern "C" cuzk_status cuzk_toml_read(const char *text, size_t n_bytes, unsigned *line, Each each,
                                      void *user, cuzk_error *err)
{
    *line = 0;
    try {
        toml::table table = toml::parse(std::string_view(text, n_bytes));
        return walk(table, each, user);
    } catch (const toml::parse_error &e) {
        *line = e.source().begin.line;
        return fail(err, CUZK_E_FORMAT, std::string(e.description()).c_str());
    } catch (const std::bad_alloc &) {
        return fail(err, CUZK_E_MEMORY, "out of memory");
    }
}
