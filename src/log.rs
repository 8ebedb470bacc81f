//! How events of the log look: warnings like those of the program, all others with their time, level and place.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format as Plain, Full, Writer};
use tracing_subscriber::fmt::time::Uptime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, time};
use tracing_subscriber::registry::LookupSpan;

use crate::ui::WARNING;

/// The format of events.
#[derive(Debug)]
pub struct Format {
    plain: Plain<Full, Uptime>,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            plain: Plain::default().with_timer(time::uptime()),
        }
    }
}

impl<S, N> FormatEvent<S, N> for Format
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if *event.metadata().level() > Level::WARN {
            return self.plain.format_event(context, writer, event);
        }
        if writer.has_ansi_escapes() {
            write!(writer, "{WARNING}warning:{WARNING:#} ")?;
        } else {
            writer.write_str("warning: ")?;
        }
        context
            .field_format()
            .format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
