// The finished tree, and the checksum that distinguishes it from other trees.
#pragma once

#include <memory>

#include "kdtree_sweep.hpp"

namespace kdtree {

// A node. The child below the plane of an inner node is the next one in the list.
struct Node {
    // The bits of the position of the plane, or the first entry of the leaf.
    std::uint32_t payload;
    // The index of the child above the plane, or the number of entries of the leaf. The low two
    // bits are the axis, or LEAF.
    std::uint32_t word;

    static constexpr std::uint32_t LEAF = 3;

    static Node leaf(std::size_t first, std::size_t count) {
        return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count) << 2 | LEAF};
    }

    static Node inner(int axis, float position, std::size_t above) {
        return {event::bits_of(position), static_cast<std::uint32_t>(above) << 2 | static_cast<std::uint32_t>(axis)};
    }

    bool is_leaf() const { return (word & 3) == LEAF; }
    std::size_t number() const { return word >> 2; }

    // Returns the node with its indices moved by `nodes` and `entries`.
    Node moved(std::size_t nodes, std::size_t entries) const {
        if (is_leaf()) return {payload + static_cast<std::uint32_t>(entries), word};
        return {payload, word + (static_cast<std::uint32_t>(nodes) << 2)};
    }
};

// A tree: the nodes in depth-first order from the root, and the lists of all leaves in their order.
struct Tree {
    Array<Node> nodes;
    // Indices of triangles in the mesh.
    Array<std::uint32_t> entries;

    // Returns a checksum over a traversal of the tree, with the child below a plane before the one
    // above. An inner node contributes a word with the bits of its position and axis. A leaf
    // contributes its length and then its triangles, a word each. No step maps two sums to the same
    // one, so trees that differ in a single word have different sums.
    std::uint64_t checksum() const {
        std::uint64_t sum = 0;
        const auto add = [&sum](std::uint64_t word) {
            // The steps are half of the 64-bit finalizer of MurmurHash3.
            sum = (sum ^ word) + 0x9e3779b97f4a7c15;
            sum = (sum ^ sum >> 33) * 0xff51afd7ed558ccd;
            sum ^= sum >> 33;
        };
        std::vector<std::size_t> pending = {0};
        while (!pending.empty()) {
            const std::size_t index = pending.back();
            const Node &node = nodes[index];
            pending.pop_back();
            if (node.is_leaf()) {
                add(node.word);
                for (std::size_t i = 0; i < node.number(); ++i) add(entries[node.payload + i]);
            } else {
                add(std::uint64_t{node.payload} << 2 | (node.word & 3));
                pending.push_back(node.number());
                pending.push_back(index + 1);
            }
        }
        return sum;
    }
};

// A part of a tree, built by one thread.
struct Fragment {
    std::vector<Node> nodes;
    std::vector<std::uint32_t> entries;

    // Adds a leaf with the `count` entries before the last `behind`.
    void push_leaf(std::size_t count, std::size_t behind = 0) {
        nodes.push_back(Node::leaf(entries.size() - behind - count, count));
    }

    // Reserves an inner node, to be completed by `close`.
    std::size_t open() {
        nodes.push_back(Node::leaf(0, 0));
        return nodes.size() - 1;
    }

    // Completes the reserved inner node. The nodes below its plane are there; those above follow.
    void close(std::size_t index, const Plane &plane) {
        nodes[index] = Node::inner(plane.axis, plane.position, nodes.size());
    }
};

// A subtree in the form in which it was built: by one thread, or in two halves.
struct Built {
    Fragment fragment;
    Plane plane{};
    std::unique_ptr<Built> halves[2];
};

// Assembles all fragments.
class Layout {
public:
    explicit Layout(const Built &built) { place(built); }

    Tree tree() const {
        Tree tree{Array<Node>(node_count_), Array<std::uint32_t>(entry_count_)};
        tbb::parallel_for(std::size_t{0}, fragments_.size(), [&](std::size_t index) {
            const Placed &placed = fragments_[index];
            std::size_t to = placed.first_node;
            for (const Node &node : placed.fragment->nodes) {
                tree.nodes[to++] = node.moved(placed.first_node, placed.first_entry);
            }
            const auto &entries = placed.fragment->entries;
            std::copy(entries.begin(), entries.end(), tree.entries.slice().data + placed.first_entry);
        });
        for (const auto &[index, node] : inner_) tree.nodes[index] = node;
        return tree;
    }

private:
    struct Placed {
        const Fragment *fragment;
        std::size_t first_node, first_entry;
    };

    std::vector<Placed> fragments_;
    std::vector<std::pair<std::size_t, Node>> inner_;
    std::size_t node_count_ = 0, entry_count_ = 0;

    void place(const Built &built) {
        if (!built.halves[0]) {
            fragments_.push_back({&built.fragment, node_count_, entry_count_});
            node_count_ += built.fragment.nodes.size();
            entry_count_ += built.fragment.entries.size();
            return;
        }
        const std::size_t index = node_count_++;
        place(*built.halves[0]);
        inner_.emplace_back(index, Node::inner(built.plane.axis, built.plane.position, node_count_));
        place(*built.halves[1]);
    }
};

}  // namespace kdtree
