/* The lab page in a frame, for notebooks: anywidget calls render with a model that holds the page and its height. */
export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    // The frame may run the page's own script, and has no access to the notebook.
    frame.setAttribute("sandbox", "allow-scripts allow-downloads");
    frame.title = "The perceptron lab";
    const show = () => {
      frame.style.cssText = `width:100%;height:${Number(model.get("height"))}px;border:1px solid #8886;border-radius:8px`;
      frame.srcdoc = model.get("page");
    };
    show();
    model.on("change:page change:height", show);
    el.appendChild(frame);
    return () => model.off("change:page change:height", show);
  },
};
