// Defines measure(), which runs inside a page and measures what is visible, in CSS pixels. The
// function uses nothing outside of it, because the browser gets only its source text.

/// Returns measurements of everything that could make the page hard to read.
export function measure() {
    const visible = (box) => box.width > 0 && box.height > 0;
    const short = (text) => text.trim().replace(/\s+/g, ' ').slice(0, 60);
    const rgba = (text) => {
        const parts = text.match(/[\d.]+/g).map(Number);
        return { red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3] ?? 1 };
    };
    const luminance = ({ red, green, blue }) => {
        const linear = [red, green, blue].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const background = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour.alpha === 1) return colour;
        }
        return { red: 255, green: 255, blue: 255 };
    };

    // Each piece of text, with its boxes: one box for each line.
    const pieces = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.data.trim()) continue;
        const element = node.parentElement;
        if (element.closest('title, desc') || element.closest('thead')?.getBoundingClientRect().width <= 1) continue; // read aloud only
        const range = document.createRange();
        range.selectNodeContents(node);
        const style = getComputedStyle(element);
        const plot = element.closest('svg');
        const scale = plot ? plot.getBoundingClientRect().width / plot.viewBox.baseVal.width : 1;
        for (const box of [...range.getClientRects()].filter(visible)) {
            pieces.push({
                text: short(node.data),
                plot,
                scroller: element.closest('.wide'),
                box,
                font: parseFloat(style.fontSize) * scale,
                contrast: contrast(rgba(plot ? style.fill : style.color), background(element)),
            });
        }
    }

    // Pieces of text that overlap. Overlaps of one or two pixels are allowed, because glyphs can
    // touch and the boxes of neighbouring lines overlap slightly.
    const overlapping = [];
    const slack = 2;
    for (let i = 0; i < pieces.length; ++i) {
        for (let j = i + 1; j < pieces.length; ++j) {
            const [a, b] = [pieces[i].box, pieces[j].box];
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            const both = pieces[i].plot && pieces[i].plot === pieces[j].plot;
            if (across > slack && down > (both ? slack : Math.min(a.height, b.height) / 2)) overlapping.push([pieces[i].text, pieces[j].text]);
        }
    }

    const cut = [];
    for (const { text, plot, scroller, box } of pieces) {
        const bounds = plot ? plot.getBoundingClientRect() : { left: 0, right: document.documentElement.clientWidth };
        const scrolls = scroller && getComputedStyle(scroller).overflowX === 'auto';
        if (!scrolls && (box.left < bounds.left - 1 || box.right > bounds.right + 1)) cut.push(text);
    }

    const plots = [...document.querySelectorAll('svg')].map((svg) => {
        const marks = [...svg.querySelectorAll('.bar, .dot, .curve')].filter((mark) => !mark.closest('.legend'));
        const name = (svg.getAttribute('aria-labelledby') ?? '')
            .split(' ')
            .filter(Boolean)
            .map((id) => document.getElementById(id)?.textContent ?? '')
            .join(' ');
        return {
            name: name || svg.getAttribute('aria-label') || '',
            role: svg.getAttribute('role'),
            heading: svg.closest('figure')?.querySelector('figcaption')?.textContent ?? svg.querySelector('.head')?.textContent ?? '',
            width: svg.getBoundingClientRect().width,
            marks: marks.map((mark) => ({
                kind: mark.classList[0],
                width: mark.getBoundingClientRect().width,
                height: mark.getBoundingClientRect().height,
            })),
            outside: marks.filter((mark) => {
                const [box, all] = [mark.getBoundingClientRect(), svg.getBoundingClientRect()];
                return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 1;
            }).length,
            labels: [...svg.querySelectorAll('text')].map((text) => text.textContent),
        };
    });

    const lowest = pieces.reduce((least, piece) => (piece.contrast < least.contrast ? piece : least));
    const smallest = pieces.reduce((least, piece) => (piece.font < least.font ? piece : least));
    const named = (id) => id && document.getElementById(id)?.textContent;
    return {
        width: innerWidth,
        scrollWidth: document.documentElement.scrollWidth,
        title: document.title,
        language: document.documentElement.lang,
        text: document.body.innerText,
        injected: window.injected ?? null,
        paper: getComputedStyle(document.body).backgroundColor,
        elements: [...new Set([...document.querySelectorAll('*')].map((element) => element.localName))].sort(),
        headings: [...document.querySelectorAll('h1, h2, h3')].map((heading) => [heading.localName, short(heading.textContent)]),
        plots,
        overlapping,
        cut,
        lowestContrast: [lowest.contrast, lowest.text],
        smallestFont: [smallest.font, smallest.text],
        tables: [...document.querySelectorAll('table')].map((table) => ({
            caption: table.caption?.textContent ?? named(table.getAttribute('aria-labelledby')) ?? table.getAttribute('aria-label') ?? '',
            headers: table.querySelectorAll('th').length,
            unscoped: table.querySelectorAll('th:not([scope])').length,
            rows: table.tBodies[0]?.rows.length ?? 0,
            rowsWithoutHeader: [...(table.tBodies[0]?.rows ?? [])].filter((row) => !row.querySelector('th[scope=row]')).length,
        })),
        scrollers: [...document.querySelectorAll('*')]
            .filter(
                (element) =>
                    element.clientWidth > 1 &&
                    element.scrollWidth > element.clientWidth + 1 &&
                    /auto|scroll|hidden/.test(getComputedStyle(element).overflowX),
            )
            .map((element) => ({
                focusable: element.tabIndex >= 0,
                name: named(element.getAttribute('aria-labelledby')) ?? element.getAttribute('aria-label') ?? '',
            })),
    };
}
